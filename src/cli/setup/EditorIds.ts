/** The editors that `acp setup` knows, by the names that its flag takes. */
export const editorIds = ["zed", "jetbrains", "neovim", "emacs", "vscode", "acpx"] as const
export type EditorId = (typeof editorIds)[number]
