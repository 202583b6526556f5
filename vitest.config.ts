import { defineConfig } from "vitest/config"

/** Tests of the built program live in `test/binary` and `test/field-reports`; it is built anew before them if a source is newer. */
export default defineConfig({
  test: {
    projects: [
      { test: { name: "unit", include: ["test/**/*.test.ts"], exclude: ["test/binary/**", "test/field-reports/**"] } },
      {
        test: {
          name: "binary",
          include: ["test/binary/**/*.test.ts", "test/field-reports/**/*.test.ts"],
          globalSetup: ["test/support/build.ts"],
          testTimeout: 30_000
        }
      }
    ]
  }
})
