/** Commands and skills that people write as Markdown files: their own, those of a project, and those of plugins. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

/** A command of a file. */
export interface FileCommand {
  /** Sub-folders are parted by colons: `git:commit`. */
  readonly name: string
  readonly description: string
  readonly hint?: string
  /** The model that it wants, by its id or the last part of that. */
  readonly model?: string
  readonly body: string
}

/** A skill of a folder. Its body is read when it is wanted. */
export interface Skill {
  readonly name: string
  readonly description: string
  readonly hint?: string
  readonly model?: string
  /** Absolute, like `file`, its `SKILL.md`. */
  readonly folder: string
  readonly file: string
  /** Whether the person can call it, and whether the model can. */
  readonly isForPeople: boolean
  readonly isForModel: boolean
}

/** Names are unique in each list: what is nearer to the session comes first, and hides what has its name. */
export interface FoundFiles {
  readonly commands: ReadonlyArray<FileCommand>
  readonly skills: ReadonlyArray<Skill>
  /** What is wrong in files, for the person. */
  readonly problems: ReadonlyArray<string>
}

/** What `CommandFiles` promises. */
export interface CommandFilesShape {
  /** Of an absolute folder. Looks at the files each time, and reads those that changed. */
  readonly of: (cwd: string) => Effect.Effect<FoundFiles>
  /** What a skill tells to do, and the names of the files beside it. Undefined when it cannot be read any more. */
  readonly open: (skill: Skill) => Effect.Effect<OpenedSkill | undefined>
}

export interface OpenedSkill {
  readonly body: string
  /** What lies in the folder of the skill; not all, if there is much. */
  readonly files: ReadonlyArray<string>
}

/** Finds commands and skills. Nothing else reads them. */
export class CommandFiles extends Context.Service<CommandFiles, CommandFilesShape>()("super-pi/CommandFiles") {
  /** There are none: for hosts that read no files of whoever they work for. */
  static readonly layerNone: Layer.Layer<CommandFiles> = Layer.succeed(CommandFiles, {
    of: () => Effect.succeed({ commands: [], skills: [], problems: [] }),
    open: () => Effect.undefined
  })
}
