/** What a file that is no text probably is, by its first bytes; for messages only. */

const signatures: ReadonlyArray<readonly [kind: string, start: string]> = [
  ["a PNG image", "\u0089PNG"],
  ["a JPEG image", "\u00ff\u00d8\u00ff"],
  ["a GIF image", "GIF8"],
  ["a BMP image", "BM"],
  ["a PDF document", "%PDF"],
  ["a ZIP archive (or a document made of one)", "PK\u0003\u0004"],
  ["a gzip archive", "\u001f\u008b"],
  ["a Zstandard archive", "\u0028\u00b5\u002f\u00fd"],
  ["an xz archive", "\u00fd7zXZ"],
  ["a SQLite database", "SQLite format 3"],
  ["a WebAssembly module", "\u0000asm"],
  ["an ELF program", "\u007fELF"],
  ["a Mach-O program", "\u00cf\u00fa\u00ed\u00fe"],
  ["a Windows program", "MZ"],
  ["a font", "wOF2"],
  ["an Ogg file", "OggS"]
]

export const fileKind = (bytes: Uint8Array): string | undefined => {
  const start = String.fromCharCode(...bytes.subarray(0, 16))
  if (start.startsWith("RIFF") && start.slice(8, 12) === "WEBP") return "a WebP image"
  if (start.slice(4, 8) === "ftyp") return "a video or an image of the MPEG-4 family"
  return signatures.find(([, signature]) => start.startsWith(signature))?.[0]
}
