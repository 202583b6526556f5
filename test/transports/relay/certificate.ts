/** A certificate that this process trusts while the scope is open. */
import * as Effect from "effect/Effect"
import { getCACertificates, setDefaultCACertificates } from "node:tls"
import * as Certificate from "../../support/Certificate.ts"

export const certificate = Effect.gen(function* () {
  const { cert, key } = yield* Certificate.certificate
  yield* Effect.acquireRelease(
    Effect.sync(() => {
      const before = getCACertificates("default")
      setDefaultCACertificates([...before, cert])
      return before
    }),
    (before) => Effect.sync(() => setDefaultCACertificates(before))
  )
  return { cert, key }
})
