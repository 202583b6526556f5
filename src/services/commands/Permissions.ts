/** `/permissions`: what decides about tool calls in this session. */
import * as Effect from "effect/Effect"
import { offered } from "../../domain/permission/ExecutionMode.ts"
import type { CommandSession } from "../Commands.ts"
import type { ProjectsShape } from "../Projects.ts"
import type { PermissionSettings, SettingsShape } from "../Settings.ts"

/** Rules that a list names. */
const NAMED = 50

const code = (rule: string) => `- \`${rule}\``

const named = (title: string, rules: ReadonlyArray<string>): ReadonlyArray<string> =>
  rules.length === 0
    ? []
    : [
        "",
        `${title}:`,
        "",
        ...rules.slice(0, NAMED).map(code),
        ...(rules.length > NAMED ? [`- and ${rules.length - NAMED} more`] : [])
      ]

const rulesOf = (whose: string, { allow, ask, deny }: PermissionSettings) => [
  ...named(`Never runs, by ${whose}`, deny),
  ...named(`Always asks, by ${whose}`, ask),
  ...named(`Runs without a question, by ${whose}`, allow)
]

export const describePermissions = Effect.fnUntraced(function* (
  { state, turn, workspace }: CommandSession,
  settings: SettingsShape,
  projects: ProjectsShape
) {
  const { permission } = yield* settings.current
  const project = yield* projects.of(workspace.cwd)
  const present = yield* turn.mode
  const mode = offered(present).find(({ id }) => id === present)
  const answers = state().grants.map(
    ({ access, subject, verdict }) => `${verdict === "allow" ? "allowed" : "refused"}: ${access} ${subject}`
  )
  const lines = [
    ...rulesOf("your settings", permission),
    ...rulesOf(`the project ${project.root}`, project.permission),
    ...named("You answered in this session", answers)
  ]
  return [
    `The mode is **${mode?.name ?? present}**: ${mode?.description ?? ""}. \`/mode\` changes it.`,
    ...(lines.length === 0 ? ["", "There are no rules, and no answers were remembered in this session."] : lines),
    ...(project.withheld.length === 0
      ? []
      : ["", "The project is not trusted, so these are not used:", "", ...project.withheld.map((line) => `- ${line}`)]),
    "",
    "Rules stand in `permission` of `config.toml`. `super-pi permissions list` shows answers that outlast a session, and `revoke` takes them back."
  ].join("\n")
})
