import { assert, describe, it } from "@effect/vitest"
import { confinedEnvironment } from "../../../src/domain/sandbox/ConfinedEnvironment.ts"

describe("confinedEnvironment", () => {
  it("names no way out of the sandbox", () => {
    const names = [
      "SSH_AUTH_SOCK",
      "SSH_AGENT_PID",
      "DBUS_SESSION_BUS_ADDRESS",
      "DOCKER_HOST",
      "XDG_RUNTIME_DIR",
      "DISPLAY",
      "WAYLAND_DISPLAY",
      "TMUX",
      "VSCODE_GIT_IPC_HANDLE",
      "VSCODE_IPC_HOOK_CLI",
      "GIT_ASKPASS",
      "SWAYSOCK_SOCK",
      "TMPDIR"
    ]
    const kept = { PATH: "/bin", HOME: "/home/u", LANG: "C", TERM_PROGRAM: "x", SOCKET_IO: "1", DISPLAY_NAME: "u" }
    assert.deepStrictEqual(
      confinedEnvironment({ ...Object.fromEntries(names.map((name) => [name, "x"])), ...kept }),
      kept
    )
  })
})
