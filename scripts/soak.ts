/** Runs every property from new seeds until one is falsified: `npm run soak -- 20` for twenty rounds (default 5). */
import { spawnSync } from "node:child_process"
import { randomUUID } from "node:crypto"
import { globSync, readFileSync } from "node:fs"

const rounds = Number(process.argv[2] ?? 5)
const files = globSync("test/**/*.test.ts").filter((file) => readFileSync(file, "utf8").includes("it.effect.prop("))

for (let round = 1; round <= rounds; round++) {
  const seed = randomUUID()
  console.log(`round ${round} of ${rounds}: PROPERTY_SEED=${seed}`)
  const { status } = spawnSync("vitest", ["run", "--reporter=dot", ...files], {
    stdio: ["ignore", "inherit", "inherit"],
    env: { ...process.env, PROPERTY_SEED: seed }
  })
  if (status !== 0) process.exit(1)
}
