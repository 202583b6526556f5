/**
 * Tells values of settings that any text may hold from those that nobody writes by chance, and so may be secrets. A value
 * is ordinary when it is one of
 * - up to three words or short numbers: `production`, `read-only`, `us-east-1`;
 * - a number, a date, a time or a numeric address: `86400`, `2026-07-28`, `127.0.0.1:8080`;
 * - a path whose names have no run of more than 20 letters and digits: `/home/ada/notes`;
 * - an address of the web without user, password, query and fragment, whose path has words only.
 */

/** As they are written: in small letters, in capitals, or with a first capital. */
const word = "(?:\\p{Lu}?\\p{Ll}{1,13}|\\p{Lu}{1,14})"
const part = `(?:${word}|\\d{1,6})`
const words = new RegExp(`^${part}(?:[-_./:,;=+@ ]{1,2}${part}){0,2}$`, "u")
const oneWord = new RegExp(`^${word}$`, "u")
const number = /^[-+]?(?:\d{1,15}|(?=.{1,24}$)\d{1,6}(?:[-+.,:/T ]\d{1,6})*Z?)$/
const pathStart = /^(?:~|\.\.?|[A-Za-z]:)?[\\/]/
const webStart = /^(?:https?|wss?):\/\//
const wordInAddress = /^(?:[A-Za-z]{1,14}\d{0,4}|\d{1,6})$/

const LONGEST_NAME = 20

const runsOf = (text: string): ReadonlyArray<string> => text.split(/[^\p{L}\p{N}]+/u).filter((run) => run !== "")

const isPath = (value: string): boolean => {
  if (!pathStart.test(value)) return false
  const runs = runsOf(value)
  const [only = "", ...others] = runs
  return others.length === 0 ? oneWord.test(only) : runs.every((run) => run.length <= LONGEST_NAME)
}

const isAddress = (value: string): boolean => {
  const url = webStart.test(value) ? URL.parse(value) : null
  if (url === null || [url.username, url.password, url.search, url.hash].some((secret) => secret !== "")) return false
  return runsOf(url.pathname).every((run) => wordInAddress.test(run))
}

export const isOrdinary = (value: string): boolean =>
  words.test(value) || number.test(value) || isPath(value) || isAddress(value)
