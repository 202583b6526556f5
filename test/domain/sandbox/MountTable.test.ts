import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { Place } from "../../../src/domain/sandbox/Bubblewrap.ts"
import { escape, expectedMounts } from "../../../src/domain/sandbox/MountTable.ts"

const table = `25 1 254:0 / / rw,relatime - ext4 /dev/root rw
30 25 0:40 /@home /home rw,relatime shared:5 - btrfs /dev/sdb rw,subvol=/@home
31 30 0:41 / /home/u/nfs rw - nfs4 server:/export rw
32 25 254:0 /srv/data /mnt/a\\040b rw - ext4 /dev/root rw
`

const place = (path: string, treatment: Place["treatment"]): Place => ({ path, type: "folder", treatment })

describe("expectedMounts", () => {
  it("tells where in its file system each place is", () => {
    const layers = [
      place("/", "readable"),
      place("/home/u/work", "writable"),
      place("/home/u/work/.git/hooks", "readable"),
      place("/home/u/nfs/work", "writable"),
      place("/mnt/a b/work", "writable"),
      place("/srv", "writable"),
      place("/srv/secret", "hidden")
    ]
    assert.deepStrictEqual(expectedMounts(table, layers), [
      "0:40 /@home/u/work /home/u/work",
      "0:40 /@home/u/work/.git/hooks /home/u/work/.git/hooks",
      "0:41 / /home/u/nfs/work",
      "254:0 /srv/data/work /mnt/a\\040b/work",
      "254:0 /srv /srv",
      " /srv/secret"
    ])
  })

  it("says nothing of places that no command can change", () => {
    assert.deepStrictEqual(expectedMounts(table, [place("/", "readable"), place("/run", "hidden")]), [])
  })

  it("expects what cannot be, where the table is none", () => {
    assert.deepStrictEqual(expectedMounts("", [place("/work", "writable")]), ["? ? /work"])
  })

  it.effect.prop("escapes so that no path reads as several", [Schema.String], ([path]) =>
    Effect.sync(() => assert.isFalse(/[ \t\n]/.test(escape(path))))
  )
})
