/** What a confined command may not even know: the ways out of its confinement that the environment names. */
import type { Environment } from "../ChildEnvironment.ts"

const waysOut =
  /^(?:SSH_AUTH_SOCK|SSH_AGENT_PID|SSH_ASKPASS|SUDO_ASKPASS|GIT_ASKPASS|GPG_AGENT_INFO|DBUS_\w+|DOCKER_HOST|DOCKER_CONTEXT|CONTAINER_HOST|XDG_RUNTIME_DIR|DISPLAY|XAUTHORITY|WAYLAND_\w+|SESSION_MANAGER|ICEAUTHORITY|PULSE_SERVER|TMUX|TMUX_PANE|STY|ZELLIJ\w*|NVIM|NVIM_LISTEN_ADDRESS|VSCODE_\w*(?:IPC|ASKPASS)\w*|KITTY_LISTEN_ON|NOTIFY_SOCKET|LISTEN_\w+|EMACS_SOCKET_NAME|\w+_(?:SOCK|SOCKET))$/

/** Folders for temporary files are where the confinement has them. */
const temporary = /^(?:TMPDIR|TMP|TEMP)$/

export const confinedEnvironment = (environment: Environment): Environment =>
  Object.fromEntries(Object.entries(environment).filter(([name]) => !waysOut.test(name) && !temporary.test(name)))
