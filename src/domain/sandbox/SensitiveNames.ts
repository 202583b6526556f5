/** Names that a confinement treats in a way of their own, wherever it is enforced. */

/** In a folder that commands may write: what decides which programs a shell, git or an editor runs by itself. */
export const protectedNames: ReadonlyArray<string> = [
  ".bashrc",
  ".bash_profile",
  ".bash_login",
  ".bash_logout",
  ".bash_aliases",
  ".profile",
  ".zshrc",
  ".zshenv",
  ".zprofile",
  ".zlogin",
  ".zlogout",
  ".config/fish",
  ".gitconfig",
  ".config/git",
  ".gitmodules",
  ".mcp.json",
  ".claude",
  ".envrc",
  ".vscode",
  ".idea",
  ".husky"
]

/** Our own folder of a project: it must not even be made by a command. */
export const ownFolder = ".supercharge"

/** Of these also those that are not there yet count, where the workspace is the person's home. */
export const startFiles: ReadonlyArray<string> = protectedNames.filter((name) =>
  /^\.(?:bash|profile|z|gitconfig|config)/.test(name)
)

/** In a git folder, beside its hooks: they name programs, or where else configuration and hooks are. */
export const protectedGitNames: ReadonlyArray<string> = ["config", "config.worktree", "commondir", "gitdir"]

/** Below the person's home: keys and passwords, which no command needs that does not leave the sandbox. */
export const secretFolders: ReadonlyArray<string> = [
  ".ssh",
  ".gnupg",
  ".aws",
  ".azure",
  ".kube",
  ".password-store",
  ".mozilla",
  ".thunderbird",
  ".config/chromium",
  ".config/gcloud",
  ".config/gh",
  ".config/google-chrome",
  ".config/op",
  ".local/share/keyrings",
  "Library/Keychains"
]

export const secretFiles: ReadonlyArray<string> = [
  ".netrc",
  ".git-credentials",
  ".config/git/credentials",
  ".docker/config.json",
  ".pgpass",
  ".pypirc",
  ".vault-token",
  ".cargo/credentials",
  ".cargo/credentials.toml",
  ".gem/credentials",
  ".Xauthority",
  ".bash_history",
  ".zsh_history"
]

/** Secrets of the system, which root could read. */
const systemSecrets: ReadonlyArray<string> = ["/etc/shadow", "/etc/shadow-", "/etc/gshadow", "/etc/gshadow-"]

/**
 * What is private on a machine, by absolute names: the home folder of the agent, the one that it has by default, and the
 * keys and passwords of the person and of the system. Commands in a sandbox see none of it, and a workspace around it does
 * not open it.
 */
export const privatePlaces = (home: string, person: string | undefined): ReadonlyArray<string> => [
  home,
  ...(person === undefined
    ? []
    : [ownFolder, ...secretFolders, ...secretFiles].map((name) => `${person.replace(/\/+$/, "")}/${name}`)),
  ...systemSecrets
]
