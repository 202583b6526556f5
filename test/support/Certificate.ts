/** A certificate for the loopback, made by OpenSSL, that nobody but a test trusts. */
import * as Effect from "effect/Effect"
import { execFileSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { folder } from "./Program.ts"

const subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"]

/** Files and texts; the files are gone with the scope. */
export const certificate = Effect.map(folder, (place) => {
  const files = { cert: join(place, "cert.pem"), key: join(place, "key.pem") }
  const kind = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"]
  execFileSync("openssl", ["req", "-x509", ...kind, ...subject, "-keyout", files.key, "-out", files.cert], {
    stdio: "ignore"
  })
  return { files, cert: readFileSync(files.cert, "utf8"), key: readFileSync(files.key, "utf8") }
})
