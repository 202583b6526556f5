/** A look at the folders of plugins before they are read: `--plugin-dir`, and `plugins` of the home folder. */
import * as Result from "effect/Result"
import { readdirSync } from "node:fs"
import { lookAt } from "../settings/FileLook.ts"

export interface PluginLook {
  /** Absolute, in the order in which they count. */
  readonly folders: ReadonlyArray<string>
  /** Differs when something of them may have changed. */
  readonly stamp: string
}

/** More are not used. */
const MOST_PLUGINS = 50

/** Where a plugin may describe itself, from its root; the first one counts. */
export const manifests = ["plugin.json", ".supercharge-plugin/plugin.json", ".claude-plugin/plugin.json"]
const files = [...manifests, "hooks/hooks.json", ".mcp.json", "agents"]

const foldersIn = (folder: string): ReadonlyArray<string> => {
  const listing = Result.try(() => readdirSync(folder))
  if (Result.isFailure(listing)) return []
  return listing.success
    .filter((name) => !name.startsWith("."))
    .toSorted()
    .map((name) => `${folder}/${name}`)
}

export const lookAtPlugins = (named: ReadonlyArray<string>, home: string): PluginLook => {
  const folders = [...new Set([...named, ...foldersIn(`${home}/plugins`)])].slice(0, MOST_PLUGINS)
  const stamps = folders.flatMap((folder) => [folder, ...files.map((file) => lookAt(`${folder}/${file}`).stamp)])
  return { folders, stamp: stamps.join("|") }
}
