/** Asks whether the project of a session may bring what needs the person's trust: hooks, servers, allow rules. */
import * as Effect from "effect/Effect"
import * as Equal from "effect/Equal"
import type { Event, Notice } from "../../domain/Event.ts"
import type { SessionId, ToolCallId } from "../../domain/Ids.ts"
import type { Answer, PermissionOption, Question } from "../../domain/permission/Permission.ts"
import { textContent, type ToolCallPatch } from "../../domain/Tool.ts"
import type { ProjectsShape, ProjectValue } from "../Projects.ts"

export interface TrustInput {
  readonly sessionId: SessionId
  readonly cwd: string
  readonly projects: ProjectsShape
  /** Absent when nobody is there to ask. */
  readonly ask: ((question: Question) => Effect.Effect<Answer>) | undefined
  readonly callId: Effect.Effect<ToolCallId>
}

export interface Trust {
  /**
   * Before each prompt: asks about what is not decided, and once about the same content. Whether the project may bring more
   * than at the prompt before, by a yes just now or one in a terminal.
   */
  readonly settle: (tell: (event: Event) => Effect.Effect<void>) => Effect.Effect<boolean>
}

const TRUST = "trust-folder"
const NEVER = "never-trust-folder"

const options: ReadonlyArray<PermissionOption> = [
  { id: TRUST, name: "Trust this folder", kind: "allow_always" },
  { id: "not-now", name: "Not in this session", kind: "reject_once" },
  { id: NEVER, name: "Never trust it", kind: "reject_always" }
]

const untrusted = ({ root, withheld }: ProjectValue): Notice => ({
  _tag: "Notice",
  severity: "warning",
  title: `${root} is not trusted, so some of its configuration is not used`,
  description: `${withheld.join("; ")}. To use it, run: super-pi trust ${root}`
})

export const make = ({ ask, callId, cwd, projects, sessionId }: TrustInput): Trust => {
  let seen: ProjectValue | undefined
  let warned: ReadonlyArray<string> = []

  const question = (project: ProjectValue): ToolCallPatch => ({
    title: `Trust ${project.root}?`,
    kind: "other",
    content: [
      textContent(
        [
          "This folder's own configuration wants more than an untrusted folder may have. With trust it adds:",
          ...project.withheld.map((line) => `- ${line}`),
          "Without it, the session goes on and none of this is used."
        ].join("\n")
      )
    ]
  })

  const decide = Effect.fnUntraced(function* (
    project: ProjectValue,
    put: (question: Question) => Effect.Effect<Answer>,
    emit: (event: Event) => Effect.Effect<void>
  ) {
    const id = yield* callId
    const patch = question(project)
    yield* emit({
      _tag: "ToolCallStarted",
      call: {
        id,
        name: "trust",
        title: patch.title ?? "",
        kind: "other",
        status: "pending",
        locations: [],
        content: patch.content ?? []
      }
    })
    const answer = yield* put({ sessionId, call: { id, patch }, options })
    const chosen = answer._tag === "Selected" ? answer.optionId : undefined
    if (chosen === TRUST || chosen === NEVER) yield* projects.decide(project, chosen === TRUST)
    yield* emit({
      _tag: "ToolCallUpdated",
      id,
      patch: {
        status: chosen === TRUST ? "completed" : "failed",
        content: [...(patch.content ?? []), textContent(chosen === TRUST ? "Trusted." : "Not trusted.")]
      }
    })
    return chosen === TRUST
  })

  return {
    settle: Effect.fnUntraced(function* (tell) {
      const project = yield* projects.of(cwd)
      for (const title of project.warnings) {
        if (!warned.includes(title)) yield* tell({ _tag: "Notice", severity: "warning", title })
      }
      warned = project.warnings
      const isOpen =
        project.trust === "undecided" &&
        project.withheld.length > 0 &&
        (seen?.trust !== "undecided" || !Equal.equals(seen.content, project.content))
      const isTrusted = isOpen && ask !== undefined && (yield* decide(project, ask, tell))
      if (isOpen && ask === undefined) yield* tell(untrusted(project))
      const isTrustedSince = project.trust === "trusted" && seen !== undefined && seen.trust !== "trusted"
      seen = isTrusted ? { ...project, trust: "trusted" } : project
      return isTrusted || isTrustedSince
    })
  }
}
