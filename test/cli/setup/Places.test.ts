import { assert, describe, it } from "@effect/vitest"
import { posix, win32 } from "node:path"
import { jetbrainsFile, type Machine, zedFolders } from "../../../src/cli/setup/Places.ts"

const machine = (platform: NodeJS.Platform, variables: Record<string, string> = {}): Machine => {
  const path = platform === "win32" ? win32 : posix
  return {
    platform,
    home: platform === "win32" ? "C:\\Users\\me" : "/home/me",
    variable: (name) => variables[name],
    join: path.join,
    isAbsolute: path.isAbsolute
  }
}

describe("where editors keep their settings", () => {
  it.each([
    ["linux", {}, "/home/me/.config/zed"],
    ["linux", { XDG_CONFIG_HOME: "/xdg" }, "/xdg/zed"],
    ["linux", { XDG_CONFIG_HOME: "relative" }, "/home/me/.config/zed"],
    ["linux", { XDG_CONFIG_HOME: "/xdg", FLATPAK_XDG_CONFIG_HOME: "/flat" }, "/flat/zed"],
    ["darwin", { XDG_CONFIG_HOME: "/xdg" }, "/home/me/.config/zed"],
    ["win32", { APPDATA: "D:\\Roaming" }, "D:\\Roaming\\Zed"],
    ["win32", {}, "C:\\Users\\me\\AppData\\Roaming\\Zed"]
  ] as const)("Zed on %s with %j", (platform, variables, expected) => {
    assert.strictEqual(zedFolders(machine(platform, variables))[0], expected)
  })

  it("knows the folder of a Flatpak, and the file of JetBrains", () => {
    assert.include(zedFolders(machine("linux")), "/home/me/.var/app/dev.zed.Zed/config/zed")
    assert.strictEqual(jetbrainsFile(machine("win32")), "C:\\Users\\me\\.jetbrains\\acp.json")
  })
})
