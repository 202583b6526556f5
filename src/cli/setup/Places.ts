/** Where editors keep the settings that have their agents. */

/** The machine, as far as the places depend on it. */
export interface Machine {
  readonly platform: NodeJS.Platform
  readonly home: string
  readonly variable: (name: string) => string | undefined
  readonly join: (...parts: ReadonlyArray<string>) => string
  readonly isAbsolute: (path: string) => boolean
}

/** The folders in which Zed may look, the likeliest first. The first that exists is meant; else the first. */
export const zedFolders = ({ home, isAbsolute, join, platform, variable }: Machine): ReadonlyArray<string> => {
  const given = (name: string): ReadonlyArray<string> => {
    const value = variable(name)
    return value !== undefined && isAbsolute(value) ? [value] : []
  }
  switch (platform) {
    case "win32":
      return [...given("APPDATA"), join(home, "AppData", "Roaming")].map((folder) => join(folder, "Zed"))
    case "darwin":
      return [join(home, ".config", "zed")]
    default:
      return [
        ...given("FLATPAK_XDG_CONFIG_HOME"),
        ...given("XDG_CONFIG_HOME"),
        join(home, ".config"),
        join(home, ".var", "app", "dev.zed.Zed", "config")
      ].map((folder) => join(folder, "zed"))
  }
}

/** One file for all IDEs of the vendor. */
export const jetbrainsFile = ({ home, join }: Machine): string => join(home, ".jetbrains", "acp.json")
