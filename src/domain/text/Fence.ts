/** Text that a person sees as it is: inside a fence that none of its own backticks can end (F78). */
export const fenced = (text: string, language = ""): string => {
  const longest = (text.match(/`{3,}/g) ?? []).reduce((most, run) => Math.max(most, run.length), 2)
  const fence = "`".repeat(longest + 1)
  return `${fence}${language}\n${text}${text.endsWith("\n") || text === "" ? "" : "\n"}${fence}`
}
