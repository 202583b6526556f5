/** Writes `docs/config.schema.json`, by which editors complete `config.toml`. */
import { writeFileSync } from "node:fs"
import { jsonSchema } from "../src/services/settings/ConfigSchema.ts"

writeFileSync(new URL("../docs/config.schema.json", import.meta.url), `${JSON.stringify(jsonSchema(), null, 2)}\n`)
