import { assert, describe, it } from "@effect/vitest"
import { isAddress, isPublic } from "../../../src/services/web/Address.ts"

const closed = [
  "0.0.0.0",
  "10.1.2.3",
  "100.64.0.1",
  "100.100.100.200",
  "127.0.0.1",
  "127.255.255.254",
  "168.63.129.16",
  "169.254.169.254",
  "172.16.0.1",
  "172.31.255.255",
  "192.0.0.192",
  "192.168.0.1",
  "198.18.0.1",
  "203.0.113.7",
  "224.0.0.251",
  "239.255.255.250",
  "255.255.255.255",
  "::",
  "::1",
  "::7f00:1",
  "::127.0.0.1",
  "::ffff:127.0.0.1",
  "::ffff:7f00:1",
  "::ffff:169.254.169.254",
  "::FFFF:10.0.0.1",
  "64:ff9b::7f00:1",
  "64:ff9b::10.0.0.1",
  "64:ff9b:1::1",
  "fe80::1",
  "fe80::1%eth0",
  "fc00::1",
  "fd00:ec2::254",
  "ff02::1",
  "2001::1",
  "2001:db8::1",
  "2002:7f00:1::",
  "3fff::1",
  "5f00::1",
  "[::1]",
  "[::ffff:127.0.0.1]"
]

const unreadable = [
  "",
  "localhost",
  "1.2.3",
  "1.2.3.4.5",
  "256.1.1.1",
  "1.2.3.4 ",
  "g::1",
  "1::2::3",
  "1:2:3:4:5:6:7",
  "[",
  ":::"
]

const open = [
  "1.1.1.1",
  "8.8.8.8",
  "93.184.216.34",
  "172.15.0.1",
  "172.32.0.1",
  "192.167.1.1",
  "223.255.255.255",
  "2606:4700:4700::1111",
  "[2a00:1450:4001:82a::200e]",
  "2001:4860:4860::8888",
  "::ffff:8.8.8.8",
  "64:ff9b::8.8.8.8",
  "2003::1"
]

describe("addresses", () => {
  it("of this machine, of private networks and of clouds are not public, in whatever form they are written", () => {
    assert.deepStrictEqual(
      closed.filter((address) => isPublic(address)),
      []
    )
  })

  it("that cannot be read are not public", () => {
    assert.deepStrictEqual(
      unreadable.filter((address) => isPublic(address)),
      []
    )
  })

  it("of the internet are public", () => {
    assert.deepStrictEqual(
      open.filter((address) => !isPublic(address)),
      []
    )
  })

  it("are read as a URL writes them: every way to write 127.0.0.1 is this machine", () => {
    const ways = [
      "127.1",
      "0x7f.0.0.1",
      "0177.0.0.1",
      "2130706433",
      "0x7f000001",
      "127.0.0.1.",
      "①②⑦.0.0.1",
      "[::ffff:7f00:1]"
    ]
    for (const way of ways) {
      const { hostname } = new URL(`http://${way}/`)
      const host = hostname.replace(/\.$/, "")
      assert.isTrue(isAddress(host), way)
      assert.isFalse(isPublic(host), way)
    }
    assert.isFalse(isAddress("example.com"))
  })
})
