/** Identifies a content. Not for secrets: it guards against accidents, not against forgers. */
export const fingerprint = (bytes: Uint8Array): string => {
  let one = 0x811c9dc5
  let two = 0x9747b28c
  for (let index = 0; index < bytes.length; index++) {
    const byte = bytes[index] ?? 0
    one = Math.imul(one ^ byte, 0x01000193)
    two = Math.imul(two ^ byte, 0x5bd1e995)
    two ^= two >>> 15
  }
  return [bytes.length, one >>> 0, two >>> 0].map((part) => part.toString(36)).join("-")
}
