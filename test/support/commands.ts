/** An agent whose commands and skills are files of a folder of the test. */
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { mkdirSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { text } from "../../src/domain/Content.ts"
import * as CommandFilesLive from "../../src/services/commands/files/CommandFilesLive.ts"
import { Plugins } from "../../src/services/Plugins.ts"
import { Settings } from "../../src/services/Settings.ts"
import { type AgentOptions, agentLayer, connect, place } from "./agents.ts"
import { makeEditor } from "./editor.ts"
import { nothingAsked } from "./models.ts"
import { folder } from "./Program.ts"
import { platform } from "./turns.ts"

/** Writes a file and the folders above it. */
export const put = (path: string, content: string): void => {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, content)
}

/** A session in a folder that is a project, with its own commands already there. */
export const makeCommands = Effect.fnUntraced(function* (
  files: Readonly<Record<string, string>> = {},
  options: AgentOptions = {}
) {
  const root = yield* folder
  const [home, cwd] = [join(root, "home"), join(root, "project")]
  mkdirSync(join(cwd, ".git"), { recursive: true })
  for (const [path, content] of Object.entries(files)) put(join(root, path), content)
  const settings = { home, ...options.settings }
  const commandFiles = CommandFilesLive.layer.pipe(
    Layer.provide(Plugins.layer),
    Layer.provide(Settings.layerValues(settings)),
    Layer.provide(platform),
    Layer.provide(ConfigProvider.layer(ConfigProvider.fromEnv({ env: {} })))
  )
  const asked = options.asked ?? nothingAsked()
  const context = yield* Layer.build(agentLayer({ ...options, asked, settings, commandFiles }))
  const fake = makeEditor({ notices: true })
  const connected = yield* Effect.provideContext(connect(fake), context)
  const { sessionId } = yield* connected.newSession(place({ cwd }), {})
  return {
    ...connected,
    asked,
    root,
    cwd,
    home,
    id: sessionId,
    /** The lists that were told so far. */
    lists: () => fake.events.flatMap(([, event]) => (event._tag === "CommandsChanged" ? [event.commands] : [])),
    /** What the agent says to that. */
    say: Effect.fnUntraced(function* (words: string) {
      const before = fake.events.length
      yield* connected.prompt(sessionId, [text(words)])
      return fake.events
        .slice(before)
        .map(([, event]) => (event._tag === "TextDelta" ? event.text : ""))
        .join("")
    })
  }
})
