/**
 * Properties draw the same values in every run, so that a run of the same commit has the same result. The search for
 * new ones is `npm run soak`, which runs the properties again and again, each time from another seed, and prints it.
 */
import * as Arbitrary from "effect/Arbitrary"

Arbitrary.configureGlobal({ check: { seed: process.env["PROPERTY_SEED"] ?? "super-pi" } })
