/** Pages of the last minutes, so that a long one can be read in pieces and a model that asks twice asks nobody. */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type { Page } from "../Web.ts"

export interface PageCache {
  readonly get: (key: string) => Effect.Effect<Page | undefined>
  readonly set: (key: string, page: Page) => Effect.Effect<void>
}

export interface PageCacheOptions {
  readonly keep: Duration.Duration
  readonly pages: number
  /** Of all pages together. */
  readonly characters: number
}

export const make = ({ characters, keep, pages }: PageCacheOptions): PageCache => {
  const kept = new Map<string, { readonly page: Page; readonly until: number }>()
  let size = 0

  const drop = (key: string): void => {
    size -= kept.get(key)?.page.text.length ?? 0
    kept.delete(key)
  }

  return {
    get: (key) =>
      Effect.map(Clock.currentTimeMillis, (now) => {
        const found = kept.get(key)
        if (found === undefined || found.until > now) return found?.page
        drop(key)
        return undefined
      }),
    set: (key, page) =>
      Effect.map(Clock.currentTimeMillis, (now) => {
        drop(key)
        if (page.text.length > characters) return
        kept.set(key, { page, until: now + Duration.toMillis(keep) })
        size += page.text.length
        for (const oldest of kept.keys()) {
          if (kept.size <= pages && size <= characters) return
          drop(oldest)
        }
      })
  }
}
