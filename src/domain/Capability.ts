/** What an editor said it can do. What it left out is unsupported (INI-08). */
export interface EditorCapabilities {
  readonly readTextFile: boolean
  /** Shows `terminal` sign-in methods: it starts the agent in a terminal with arguments that a method adds. */
  readonly terminalAuth: boolean
  /** Runs, for a sign-in, a whole command line in a terminal, which is how it was done before there was `terminalAuth`. */
  readonly terminalCommand: boolean
  readonly notices: boolean
  /** Shows where the model's memory of the conversation was summed up (TRN-14). */
  readonly compaction: boolean
  /** Keeps the output of a running command that it was shown, and wants only what is new of it. */
  readonly incrementalOutput: boolean
  /** Shows commands in terminals that belong to the agent, fed by updates; under which of two names it knows the feed. */
  readonly terminals: "terminal_output" | "terminal_output_delta" | undefined
  /** Questions that it can put to a person beside permissions (ELI-01). */
  readonly elicitation: { readonly form: boolean; readonly url: boolean }
}

/** An editor that can do nothing but show text and answer questions. */
export const noCapabilities: EditorCapabilities = {
  readTextFile: false,
  terminalAuth: false,
  terminalCommand: false,
  notices: false,
  compaction: false,
  incrementalOutput: false,
  terminals: undefined,
  elicitation: { form: false, url: false }
}
