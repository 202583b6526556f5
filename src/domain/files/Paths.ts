/** Names of files as people, editors and models write them. */
import * as Option from "effect/Option"

/** `path` is as it was written. Lines count from 1, both ends included. */
export interface FileReference {
  readonly path: string
  readonly line?: number
  readonly endLine?: number
  readonly symbol?: string
}

const fileUrl = /^file:(?:\/\/([^/?#]*))?(\/[^?#]*)(?:\?([^#]*))?(?:#L(\d+)(?:[:-]L?(\d+))?)?/i

const decodePart = (text: string): string =>
  Option.getOrElse(Option.liftThrowable(decodeURIComponent)(text), () => text)

/** `/C:/x y` is how a URL writes `C:\x y`. */
const fromUrlPath = (path: string): string => (/^\/[A-Za-z]:/.test(path) ? path.slice(1).replaceAll("/", "\\") : path)

/** Understands `file:` URLs with line ranges (`#L2:3`, `#L2-L3`) and `?symbol=`; any other text is a path (F94). */
export const parseReference = (text: string): FileReference => {
  const match = fileUrl.exec(text)
  if (match === null) return { path: text }
  const [, , path = "", query = "", line, endLine] = match
  const symbol = /(?:^|&)symbol=([^&]+)/.exec(query)?.[1]
  return {
    path: fromUrlPath(decodePart(path)),
    ...(line === undefined ? {} : { line: Number(line) }),
    ...(endLine === undefined ? {} : { endLine: Number(endLine) }),
    ...(symbol === undefined ? {} : { symbol: decodePart(symbol) })
  }
}

/** `~` and `~/x` lie in the home folder. */
export const expandHome = (path: string, home: string | undefined): string =>
  home !== undefined && /^~(?=\/|$)/.test(path) ? home + path.slice(1) : path

/** Whether `path` is `folder` or lies in it. Both absolute and normalised. */
export const isWithin = (folder: string, path: string): boolean =>
  path === folder || path.startsWith(folder.endsWith("/") ? folder : `${folder}/`)

/** The path from `folder` when it lies there, else as it is: short for people, and never wrong. */
export const showPath = (folder: string, path: string): string =>
  path === folder
    ? "."
    : isWithin(folder, path)
      ? path.slice(folder.endsWith("/") ? folder.length : folder.length + 1)
      : path
