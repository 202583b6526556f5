import { assert, describe, it } from "@effect/vitest"
import { dirname, join } from "node:path"
import { type Source, sources } from "./support/Sources.ts"

/** From the inside out. What is in none of the three folders composes them: `main.ts`, the commands, `index.ts`. */
const rings = ["domain", "services", "transports"]

const ring = (path: string): number => {
  const found = rings.indexOf(path.split("/")[1] ?? "")
  return found === -1 ? rings.length : found
}

const target = (source: Source, specifier: string): string => join(dirname(source.path), specifier)

const local = (source: Source): ReadonlyArray<string> =>
  source.imports.filter((specifier) => specifier.startsWith(".")).map((specifier) => target(source, specifier))

const offenders = (
  files: ReadonlyArray<Source>,
  offences: (source: Source) => ReadonlyArray<string | number>
): ReadonlyArray<string> => files.flatMap((source) => offences(source).map((offence) => `${source.path}: ${offence}`))

/** Modules of Effect that act on the world, or that only a service or a transport can need. */
const acting =
  /^effect\/(Layer|FileSystem|Path|Terminal|Stdio|Console|Logger|Config|ConfigProvider|Clock|Random|Runtime|ManagedRuntime|ai|cli|cluster|http|net|persistence|process|rpc\/Rpc(Client|Server|Test)|socket|sql|workers)(\/|$)/

/** What a surface may know of the services: the facade, its ports, and nothing that has to do with tools or models. */
const facade = /^src\/services\/(Agent|Auth|Editor|SessionStore|Settings)\.ts$/

const all = sources("src/**/*.ts")
const inside = (folder: string): ReadonlyArray<Source> => all.filter(({ path }) => path.startsWith(`src/${folder}/`))

const otherThanMcp = ({ path }: Source): boolean => !path.startsWith("src/services/mcp/")

describe("rings", () => {
  it("finds the sources", () => {
    for (const folder of rings) assert.isNotEmpty(inside(folder), folder)
  })

  it("imports point inward only", () => {
    assert.deepStrictEqual(
      offenders(all, (source) => local(source).filter((path) => ring(path) > ring(source.path))),
      []
    )
  })

  it("the domain is pure: it imports data modules of Effect and itself", () => {
    assert.deepStrictEqual(
      offenders(inside("domain"), ({ imports }) =>
        imports.filter((specifier) => !/^(\.|effect\/)/.test(specifier) || acting.test(specifier))
      ),
      []
    )
  })

  it("the services know no method of the protocol and no error code", () => {
    const methods = /^(initialize|authenticate|logout|(session|fs|terminal|elicitation)\/\w+|\$\/\w+|_superpi\/.+)$/
    const speaksWire = (literal: string | number): boolean =>
      typeof literal === "string" ? methods.test(literal) : literal <= -32_000 && literal > -33_000
    assert.deepStrictEqual(
      offenders(inside("services").filter(otherThanMcp), ({ imports, literals }) => [
        ...literals.filter(speaksWire),
        ...imports.filter((specifier) => /domain\/wire\/|^effect\/rpc/.test(specifier))
      ]),
      []
    )
  })

  it("the client of MCP, a protocol of its own, shares no more than the envelope", () => {
    assert.deepStrictEqual(
      offenders(
        inside("services").filter((source) => !otherThanMcp(source)),
        ({ imports }) =>
          imports.filter((specifier) =>
            /domain\/wire\/(?!(JsonRpc|RequestId|ErrorCode|Lenient)\.ts$)|^effect\/rpc/.test(specifier)
          )
      ),
      []
    )
  })

  it("the transports know no tool and no model", () => {
    assert.deepStrictEqual(
      offenders(inside("transports"), (source) =>
        local(source).filter((path) => path.startsWith("src/services/") && !facade.test(path))
      ),
      []
    )
  })

  it("modules are imported from their own file, never through a barrel", () => {
    assert.deepStrictEqual(
      offenders(all, ({ imports }) =>
        imports.filter((specifier) =>
          /^(effect|@effect\/[\w-]+|effect\/(ai|cli|http|process|rpc|sql))$/.test(specifier)
        )
      ),
      []
    )
  })

  it("no file is longer than 400 lines", () => {
    assert.deepStrictEqual(
      offenders(all, ({ lines }) => (lines > 400 ? [lines] : [])),
      []
    )
  })

  it("nothing is left unfinished", () => {
    assert.deepStrictEqual(
      offenders(sources("{src,test,scripts,examples,bench}/**/*.ts"), ({ comments }) =>
        comments.flatMap((comment) => comment.match(/\b(TODO|FIXME|XXX|HACK)\b/g) ?? [])
      ),
      []
    )
  })
})
