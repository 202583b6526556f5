/** How large an image is, as its head says. */

export interface ImageSize {
  readonly width: number
  readonly height: number
}

/** The frame of a JPEG stands behind any number of other segments. */
const jpegSize = (view: DataView): ImageSize | undefined => {
  let at = 2
  while (at + 9 <= view.byteLength && view.getUint8(at) === 0xff) {
    const marker = view.getUint8(at + 1)
    const isFrame = marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc
    if (isFrame) return { width: view.getUint16(at + 7), height: view.getUint16(at + 5) }
    at += 2 + view.getUint16(at + 2)
  }
  return undefined
}

/** `kind` is what `fileKind` calls it. Undefined when the head is cut, or of a form that is not understood. */
export const imageSize = (kind: string, bytes: Uint8Array): ImageSize | undefined => {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  switch (kind) {
    case "a PNG image":
      return view.byteLength < 24 ? undefined : { width: view.getUint32(16), height: view.getUint32(20) }
    case "a GIF image":
      return view.byteLength < 10 ? undefined : { width: view.getUint16(6, true), height: view.getUint16(8, true) }
    case "a BMP image":
      return view.byteLength < 26
        ? undefined
        : { width: view.getUint32(18, true), height: Math.abs(view.getInt32(22, true)) }
    case "a JPEG image":
      return jpegSize(view)
    default:
      return undefined
  }
}
