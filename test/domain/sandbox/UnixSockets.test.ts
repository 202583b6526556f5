import { assert, describe, it } from "@effect/vitest"
import { socketPaths } from "../../../src/domain/sandbox/UnixSockets.ts"

describe("socketPaths", () => {
  it("finds servers by their paths, and neither clients nor abstract names", () => {
    const table = `Num       RefCount Protocol Flags    Type St Inode Path
00000000cd3b82e3: 00000002 00000000 00010000 0001 01 3081469 /srv/a b.sock
00000000cd3b82e4: 00000002 00000000 00010000 0005 01 30 /srv/packets
00000000cd3b82e5: 00000002 00000000 00000000 0002 01   31 /srv/log
00000000521c02a6: 00000003 00000000 00000000 0001 03   152 /srv/a b.sock
00000000521c02a7: 00000003 00000000 00000000 0001 03   153
00000000521c02a8: 00000002 00000000 00010000 0001 01   154 @/tmp/.X11-unix/X0
`
    assert.deepStrictEqual(socketPaths(table), ["/srv/a b.sock", "/srv/packets", "/srv/log"])
  })
})
