import { availableParallelism } from "node:os"
import { defineConfig } from "vitest/config"

/** Tests that start the built program, which is built anew before them if a source is newer. */
const binary = ["test/binary/**/*.test.ts", "test/field-reports/**/*.test.ts", "test/v1/**/*.test.ts"]

const setupFiles = ["test/support/seed.ts"]

export default defineConfig({
  test: {
    // Most of the time goes into waiting for processes, so that a core has room for a file of tests of its own.
    maxWorkers: availableParallelism(),
    projects: [
      // A property over hundreds of values may take long where the machine is shared; nothing waits for this time to pass.
      { test: { name: "unit", include: ["test/**/*.test.ts"], exclude: binary, setupFiles, testTimeout: 60_000 } },
      {
        test: {
          name: "binary",
          include: binary,
          setupFiles,
          globalSetup: ["test/support/build.ts"],
          testTimeout: 60_000
        }
      }
    ]
  }
})
