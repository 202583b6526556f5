/** Writes the schema of the lines of `--output-format stream-json` into the pages, after a change of those lines. */
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { streamJsonSchema } from "../src/cli/oneshot/Output.ts"

const file = join(import.meta.dirname, "..", "docs", "stream-json.schema.json")
writeFileSync(file, `${JSON.stringify(streamJsonSchema(), undefined, 2)}\n`)
