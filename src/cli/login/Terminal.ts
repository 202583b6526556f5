/** The columns of the terminal that is written to; undefined where a program reads. */
export const terminalWidth = (): number | undefined => (process.stdout.isTTY ? process.stdout.columns : undefined)
