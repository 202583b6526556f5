/**
 * Pages of the web as text for a model. Never reaches a host of this machine or of a private network unless the settings
 * allow it, whatever a name resolves to and wherever a page redirects.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import type { Environment } from "../domain/ChildEnvironment.ts"
import { Settings } from "./Settings.ts"
import { refusalOf } from "./web/Target.ts"
import type { WebOptions } from "./web/WebClient.ts"

/** A page could not be had, or may not be. `message` is for the model and for a person: what happened and what to do. */
export class WebFailed extends Schema.TaggedError<WebFailed>()("WebFailed", { message: Schema.String }) {}

/** A page as text. */
export interface Page {
  /** Where it was in the end, after redirects on the same host. */
  readonly url: string
  readonly title: string | undefined
  /** Such as `text/html`. */
  readonly type: string
  /** Markdown of what was HTML, anything else as it came. */
  readonly text: string
}

/** How a page is fetched. */
export interface FetchOptions {
  /** Whether no redirect is followed. Default: false. */
  readonly exactly?: boolean
}

/** What `Web` promises. Addresses are absolute, of `http:` or `https:`. */
export interface WebShape {
  /** Fails where the settings forbid the host, before anything is asked or resolved. */
  readonly check: (url: URL) => Effect.Effect<void, WebFailed>
  /**
   * At most 60 s, 10 MB and 10 redirects on the same host; a page is kept for 15 minutes. With `exactly` it comes from this
   * address or not at all: a redirect is a failure that names where it leads.
   */
  readonly fetch: (url: URL, options?: FetchOptions) => Effect.Effect<Page, WebFailed>
}

/** The only way to the web of a tool of this process. */
export class Web extends Context.Service<Web, WebShape>()("super-pi/Web") {
  /** `environment` names the proxies, as for the model providers. Its code is loaded at the first fetch. */
  static layer(environment: Environment, options: Partial<WebOptions> = {}): Layer.Layer<Web, never, Settings> {
    return Layer.effect(
      Web,
      Effect.gen(function* () {
        const settings = yield* Settings
        const limits = Effect.map(settings.current, ({ webFetch }) => webFetch)
        const client = yield* Effect.promise(() => import("./web/WebClient.ts")).pipe(
          Effect.map(({ make }) => make({ ...options, environment, settings: limits })),
          Effect.cached
        )
        const check = Effect.fnUntraced(function* (url: URL) {
          const message = refusalOf(url, yield* limits)
          if (message !== undefined) return yield* new WebFailed({ message })
        })
        return Web.of({
          check,
          fetch: Effect.fn("Web.fetch")(function* (address, how) {
            const url = new URL(address)
            url.hash = ""
            yield* check(url)
            return yield* (yield* client).fetch(url, how)
          })
        })
      })
    )
  }

  /** There is no web. */
  static readonly layerNone: Layer.Layer<Web> = Layer.succeed(Web, {
    check: () => Effect.void,
    fetch: () => Effect.fail(new WebFailed({ message: "This agent has no access to the web. Go on without it." }))
  })
}
