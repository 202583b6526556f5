/** Answers that are no streams: servers tell errors also with a status of success, and a mistaken address shows a page. */
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"

/** The HTTP status that an error names itself. */
const statusIn = (body: string): number | undefined => {
  const json = Result.getOrUndefined(Result.try((): unknown => JSON.parse(body)))
  const error = Predicate.hasProperty(json, "error") ? json.error : json
  const code = Predicate.hasProperty(error, "code") ? Number(error.code) : Number.NaN
  return code >= 400 && code < 600 ? code : undefined
}

/** What came instead, with the fields that the failures of provider packages have. */
const noStream = (body: string): Error =>
  body.trimStart().startsWith("<")
    ? new Error("the address answers with a web page: check the base URL")
    : Object.assign(new Error("it answered without a stream"), { statusCode: statusIn(body), responseBody: body })

/** The answer to a request for a stream, or a failure that says what it is instead. */
export const requireStream = (response: Response): Response | Promise<Response> => {
  const type = response.headers.get("content-type") ?? ""
  if (!response.ok || !/^(application\/json|text\/html)/.test(type)) return response
  return response.text().then((body) => {
    if (/^\s*[{<]/.test(body)) throw noStream(body)
    return new Response(body, response)
  })
}
