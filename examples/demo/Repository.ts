/** A small git repository in a temporary folder, and nothing of the user's: neither settings nor keys nor hooks. */
import { spawn } from "node:child_process"
import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"

export interface Repository {
  /** Absolute, without symbolic links. */
  readonly path: string
  /** A folder beside it, for what belongs to the agent. */
  readonly home: string
  readonly git: (...args: ReadonlyArray<string>) => Promise<string>
}

const environment = (home: string) => ({
  ...process.env,
  HOME: home,
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_AUTHOR_NAME: "Demo",
  GIT_AUTHOR_EMAIL: "demo@example.org",
  GIT_COMMITTER_NAME: "Demo",
  GIT_COMMITTER_EMAIL: "demo@example.org"
})

const run = (command: string, args: ReadonlyArray<string>, cwd: string, env: NodeJS.ProcessEnv): Promise<string> =>
  new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd, env, stdio: ["ignore", "pipe", "pipe"] })
    let stdout = ""
    let stderr = ""
    child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text))
    child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text))
    child.on("error", (error) => reject(new Error(`${command} is needed and cannot be started: ${error.message}`)))
    child.on("close", (code) =>
      code === 0 ? resolve(stdout) : reject(new Error(`${command} ${args.join(" ")} ended with ${code}: ${stderr}`))
    )
  })

/** Makes the repository with one commit, hands it to `use`, and removes it whatever happens. */
export const withRepository = async <A>(
  files: Readonly<Record<string, string>>,
  use: (repository: Repository) => Promise<A>
): Promise<A> => {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "super-pi-demo-")))
  try {
    const path = join(folder, "till")
    const home = join(folder, "home")
    await Promise.all([mkdir(path), mkdir(home)])
    for (const [name, text] of Object.entries(files)) {
      await mkdir(dirname(join(path, name)), { recursive: true })
      await writeFile(join(path, name), text)
    }
    const env = environment(home)
    const git = (...args: ReadonlyArray<string>) => run("git", args, path, env)
    await git("init", "--quiet", "--initial-branch=main")
    await git("add", "--all")
    await git("commit", "--quiet", "--message", "A till")
    return await use({ path, home, git })
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
