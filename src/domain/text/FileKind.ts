/** What a file that is no text probably is, by its first bytes; for messages only. */
import { imageSize } from "./ImageSize.ts"

const signatures: ReadonlyArray<readonly [kind: string, start: string]> = [
  ["a PNG image", "\u0089PNG"],
  ["a JPEG image", "\u00ff\u00d8\u00ff"],
  ["a GIF image", "GIF8"],
  ["a TIFF image", "II*\0"],
  ["a TIFF image", "MM\0*"],
  ["an icon", "\0\0\u0001\0"],
  ["a PDF document", "%PDF-"],
  ["an old Office document", "\u00d0\u00cf\u0011\u00e0"],
  ["a ZIP archive (or a document made of one)", "PK\u0003\u0004"],
  ["an empty ZIP archive", "PK\u0005\u0006"],
  ["a gzip archive", "\u001f\u008b"],
  ["a bzip2 archive", "BZh"],
  ["a Zstandard archive", "\u0028\u00b5\u002f\u00fd"],
  ["an xz archive", "\u00fd7zXZ"],
  ["a 7-Zip archive", "7z\u00bc\u00af"],
  ["a RAR archive", "Rar!\u001a"],
  ["a SQLite database", "SQLite format 3\0"],
  ["a WebAssembly module", "\0asm"],
  ["an ELF program or library", "\u007fELF"],
  ["a Mach-O program", "\u00cf\u00fa\u00ed\u00fe"],
  ["a Mach-O program or a Java class", "\u00ca\u00fe\u00ba\u00be"],
  ["a static library", "!<arch>\n"],
  ["a git pack", "PACK\0"],
  ["a font", "wOF2"],
  ["a font", "wOFF"],
  ["a font", "OTTO"],
  ["a font", "\0\u0001\0\0"],
  ["an Ogg file", "OggS"],
  ["a FLAC file", "fLaC"],
  ["an MP3 file", "ID3"],
  ["a Matroska or WebM video", "\u001a\u0045\u00df\u00a3"],
  ["text in UTF-32", "\u00ff\u00fe\0\0"],
  ["text in UTF-32", "\0\0\u00fe\u00ff"]
]

/** Letters that text begins with as well: these need a NUL soon after. */
const short: ReadonlyArray<readonly [kind: string, start: string]> = [
  ["a BMP image", "BM"],
  ["a Windows program", "MZ"]
]

const HEAD = 64

const ofSignature = (head: string): string | undefined => {
  if (head.startsWith("RIFF") && head.slice(8, 12) === "WEBP") return "a WebP image"
  if (head.startsWith("RIFF") && head.slice(8, 12) === "WAVE") return "a WAV file"
  if (head.slice(4, 8) === "ftyp") return "a video or an image of the MPEG-4 family"
  if (head.slice(257, 262) === "ustar") return "a tar archive"
  const known = signatures.find(([, start]) => head.startsWith(start))
  if (known !== undefined) return known[0]
  return head.slice(0, HEAD).includes("\0") ? short.find(([, start]) => head.startsWith(start))?.[0] : undefined
}

/** Images come with their size in pixels where their head tells it. */
export const fileKind = (bytes: Uint8Array): string | undefined => {
  const kind = ofSignature(String.fromCharCode(...bytes.subarray(0, 264)))
  const size = kind === undefined ? undefined : imageSize(kind, bytes)
  return size === undefined ? kind : `${kind} of ${size.width}×${size.height} pixels`
}
