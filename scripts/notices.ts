/** The licences of everything that is bundled, in one file beside the bundle, as those licences ask for. */
import { existsSync, globSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import type { Plugin } from "rolldown"

/** The folder of the package that a module belongs to. */
const packageOf = (module: string): string => {
  const folder = dirname(module)
  return existsSync(join(folder, "package.json")) && "name" in manifestOf(folder) ? folder : packageOf(folder)
}

const manifestOf = (folder: string): { readonly name: string; readonly version: string; readonly license: string } =>
  JSON.parse(readFileSync(join(folder, "package.json"), "utf8"))

const noticeOf = (folder: string): string => {
  const { license, name, version } = manifestOf(folder)
  const texts = globSync("{LICENSE,LICENCE,NOTICE,license}*", { cwd: folder }).toSorted()
  return [
    `${name} ${version} (${license})`,
    ...texts.map((file) => readFileSync(join(folder, file), "utf8").trim())
  ].join("\n\n")
}

export const notices = (): Plugin => ({
  name: "notices",
  generateBundle(_, bundle) {
    const modules = Object.values(bundle).flatMap((file) => (file.type === "chunk" ? file.moduleIds : []))
    const bundled = modules.filter((module) => module.includes("/node_modules/")).map(packageOf)
    const source = [...new Set(bundled)]
      .map(noticeOf)
      .toSorted()
      .join(`\n\n${"-".repeat(80)}\n\n`)
    this.emitFile({ type: "asset", fileName: "THIRD-PARTY-LICENSES.txt", source: `${source}\n` })
  }
})
