/**
 * The program beside three floors, in one run: bare Node, a minimal agent on the official SDK, and the same with one
 * `fetch` a turn to the model endpoint of the bench. Each round starts every program anew, one at a time; figures are
 * medians over rounds. Then the program over WebSocket and Streamable HTTP beside itself over stdio. All of it stays on
 * the loopback interface.
 *
 * `npm run bench -- --rounds 9`. The machine should have nothing else to do: of a busy one, only the ratios tell.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { cpus, loadavg, tmpdir } from "node:os"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { type DialectName, dialects } from "./Dialects.ts"
import { startModel } from "./Model.ts"
import { carry, fifty, idle, overHttp, overStdio, overWebSocket } from "./Network.ts"
import { type ProgramName, report } from "./Report.ts"
import { converse, crowd, type Figure, load, type Program, type Put, start, streams, work } from "./Rounds.ts"

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "7" },
    /** Only the `programs` beside their floors, or only the `network` beside stdio. */
    part: { type: "string", default: "" },
    /** Another build of the program, such as an older one. */
    program: { type: "string", default: join(import.meta.dirname, "../bin/super-pi") }
  }
})
const rounds = Number(values.rounds)
const MESSAGES = 500

const folder = mkdtempSync(join(tmpdir(), "super-pi-bench-"))
process.on("exit", () => rmSync(folder, { recursive: true, force: true }))
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => process.exit(130))

const project = join(folder, "project")
const home = join(folder, "home")
mkdirSync(project)
mkdirSync(join(home, ".supercharge"), { recursive: true })
const files = [1, 2, 3].map((index) => join(project, `file-${index}.txt`))
for (const file of files) writeFileSync(file, `the first line of ${file}\nthe second\n`)
const script = join(folder, "script.json")
const steps = [
  {
    again: true,
    parts: Array.from({ length: 5_000 }, (_, index) => ({ text: `word${String(index).padStart(5, "0")} ` }))
  }
]
writeFileSync(script, JSON.stringify({ steps }))

const model = await startModel()
const models = new Map<DialectName, string>()
const config = [`[models]\ndefault = "openai-compatible/bench"`]
for (const dialect of Object.keys(dialects) as ReadonlyArray<DialectName>) {
  models.set(dialect, `${dialect}/bench`)
  config.push(
    `[providers.${dialect}]\nkind = "${dialect}"\nbase_url = "${model.url}/v1"\napi_key = "bench"\nmodels = ["bench"]`
  )
}
writeFileSync(join(home, ".supercharge/config.toml"), config.join("\n"))

const program = (name: ProgramName, args: ReadonlyArray<string>, asksModel: boolean, env = {}): Program => ({
  name,
  command: { args, cwd: project, env: { PATH: process.env["PATH"] ?? "", HOME: home, ...env } },
  asksModel
})
const floor = (name: string) => join(import.meta.dirname, "floor", `${name}.mjs`)
const ours = program("super-pi", [values.program, "acp"], true)
const scripted = program("scripted", [values.program, "acp", "--model", `scripted/${script}`], false)
const bare = program("bare Node", [floor("bare")], false)
const sdk = program("SDK", [floor("sdk")], false)
const fetching = program("SDK and fetch", [floor("sdk")], true, { MODEL_URL: model.url })

const served = (name: ProgramName) => program(name, [values.program, "agent", "serve", "--bind", "127.0.0.1:0"], true)
const transports = [
  overStdio("stdio", ours.command),
  overWebSocket("WebSocket", served("WebSocket").command),
  overHttp("HTTP", served("HTTP").command)
]

const figures = new Map<ProgramName, Map<Figure, Array<number>>>()
let warm = false
const putFor = (name: ProgramName): Put => {
  const own = figures.get(name) ?? new Map<Figure, Array<number>>()
  figures.set(name, own)
  return (figure, value) => {
    if (warm) own.set(figure, [...(own.get(figure) ?? []), value])
  }
}

const programs = async (): Promise<void> => {
  for (const each of [ours, bare, sdk, fetching]) await start(each, putFor(each.name))
  for (const each of [ours, fetching]) await work(each, model, each === ours ? files : [], putFor(each.name))
  for (const each of [ours, sdk, fetching]) await crowd(each, putFor(each.name))
  await streams(ours, models, putFor("super-pi"))
  for (const each of [scripted, sdk]) await work(each, model, [], putFor(each.name))
  await load(ours, session, putFor("super-pi"))
}

const network = async (): Promise<void> => {
  await carry(transports, session, putFor)
  for (const each of transports) await fifty(each, putFor(each.name))
  for (const each of transports.slice(1)) await idle(each, putFor(each.name))
}

const session = await converse(ours, MESSAGES)
for (let round = 0; round <= rounds; round++) {
  warm = round > 0
  process.stderr.write(warm ? `round ${round} of ${rounds}, load ${loadavg()[0]?.toFixed(1)}\n` : "warming up\n")
  if (values.part !== "network") await programs()
  if (values.part !== "programs") await network()
}
model.stop()

const { missed, text } = report(figures)
console.log(
  `Medians of ${rounds} rounds on ${cpus().length} × ${cpus()[0]?.model}, Node ${process.version}\n\n${text}\n`
)
console.log(missed === 0 ? "Every target is met." : `${missed} targets are missed.`)
process.exit()
