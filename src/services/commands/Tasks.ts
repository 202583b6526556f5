/** `/init` and `/review`: prompts that many would write, written once. */

const wanted = (input: string, otherwise: string): string => (input === "" ? otherwise : `The user adds: ${input}`)

export const initPrompt = (input: string): string =>
  `Write AGENTS.md in the root of this project: what an agent that has never seen it must know to work well in it.

Look first: the README, the files that declare packages and scripts, the configuration of tests, linters and CI, the folders of the source, and instructions for agents or contributors that are there already. Check the commands that you name where that is cheap.

Then write, briefly: how to install, build, test (also a single test) and check; how the code is laid out and which way its parts depend on each other; the conventions that the code shows and that a newcomer would get wrong; what must not be touched. Leave out what every programmer knows, what a look at a file shows, and anything that you have not seen here.

If there is an AGENTS.md, improve it: keep what still holds, correct what does not, and say what you changed.

${wanted(input, "Keep it below a hundred lines.")}`

export const reviewPrompt = (input: string): string =>
  `Review a change. Change nothing yourself.

${wanted(input, "The change is what is not committed yet: look at git status and git diff HEAD, and read new files. If there is none, review the last commit.")}

Read the code around what was changed, as far as you need it to judge. Look for what is wrong, in this order: faults in behaviour, lost cases and errors, races, security, data that can be lost, tests that are missing or test nothing, what is needlessly hard to read.

For each finding say where it is as path:line, what happens when, how sure you are, and what would be right. Put the gravest first. Do not praise, and do not list matters of taste. If there is nothing to find, say so in one sentence.`
