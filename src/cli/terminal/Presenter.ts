/** What the command line prints: what was asked for on stdout, what went wrong on stderr, short and with the remedy. */
import type * as CliError from "effect/cli/CliError"
import * as CliOutput from "effect/cli/CliOutput"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

/** Complaints, the usage of the command in question, and where to read on. */
const complain = (path: ReadonlyArray<string>, usage: string, complaints: ReadonlyArray<string>): Effect.Effect<void> =>
  Console.error(
    [
      ...complaints.map((complaint) => `error: ${complaint}`),
      `usage: ${usage}`,
      `Run "${path.join(" ")} --help" to see all that it takes.`
    ].join("\n")
  )

/** Several words are no name of a command, but a task. */
const complaintOf = (error: CliError.CliError): string =>
  error._tag === "UnknownSubcommand" && error.subcommand.includes(" ")
    ? 'A task stands behind -p: super-pi -p "your task"'
    : error.message

const presenter = CliOutput.layerPresenter({
  present: Effect.fnUntraced(function* (event) {
    switch (event._tag) {
      case "Version":
        return yield* Console.log(`${event.name} ${event.version}`)
      case "InvalidInvocation":
        return yield* complain(event.commandPath, event.helpDoc.usage, event.errors.map(complaintOf))
      case "Help":
        return event.reason === "Requested"
          ? yield* CliOutput.defaultPresenter.present(event)
          : yield* complain(event.commandPath, event.helpDoc.usage, ["a command is missing"])
    }
  })
})

const formatter = Layer.sync(CliOutput.Formatter, () => ({
  ...CliOutput.defaultFormatter(),
  formatError: ({ message }) => `error: ${message}`
}))

export const layer: Layer.Layer<never> = Layer.merge(presenter, formatter)
