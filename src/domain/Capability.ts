/** What an editor said it can do. What it left out is unsupported (INI-08). */
export interface EditorCapabilities {
  readonly readTextFile: boolean
  /** Shows `terminal` sign-in methods. */
  readonly terminalAuth: boolean
  readonly notices: boolean
}

/** An editor that can do nothing but show text and answer questions. */
export const noCapabilities: EditorCapabilities = {
  readTextFile: false,
  terminalAuth: false,
  notices: false
}
