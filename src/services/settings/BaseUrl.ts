/**
 * The address that requests of a provider are appended to: http or https, without the trailing slash. An address with a
 * user name, a password, a query or a fragment is none: such parts hold secrets, and nothing can be appended to them.
 */
export const parseBaseUrl = (text: string): string | undefined => {
  const url = URL.parse(text.trim())
  if (url === null || (url.protocol !== "http:" && url.protocol !== "https:")) return undefined
  if (url.username !== "" || url.password !== "" || /[?#]/.test(url.href)) return undefined
  return url.href.replace(/\/+$/, "")
}

/** Ends the sentence "<key> must be …". */
export const baseUrlExpected =
  "an http:// or https:// address without user name, password, query or fragment, such as http://127.0.0.1:8080/v1"
