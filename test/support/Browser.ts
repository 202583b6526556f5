/** A real browser without a screen, and a wire between it and an agent that can be cut. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { existsSync } from "node:fs"
import { type AddressInfo, connect, createServer, type Socket } from "node:net"
import { chromium, type Browser as Driver, type Page } from "playwright-core"

const executable = "/usr/bin/chromium"

/** Why no browser can be started; nothing if one can. */
export const missing = existsSync(executable) ? undefined : `${executable} is missing`

/** Nothing but this machine has a name in it. */
const flags = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--host-resolver-rules=MAP other.localhost 127.0.0.1, MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE other.localhost"
]

/** Milliseconds for a single step of a page. */
const PATIENCE = 10_000

export class Browser extends Context.Service<Browser, Driver>()("test/Browser") {
  static layer = Layer.effect(
    Browser,
    Effect.acquireRelease(
      Effect.promise(() => chromium.launch({ executablePath: executable, args: flags, timeout: 30_000 })),
      (driver) => Effect.promise(() => driver.close())
    )
  )
}

/** A page that shares nothing with others. An error in it that nobody caught ends the test with its scope. */
export const visit = Effect.fnUntraced(function* (url: string) {
  const driver = yield* Browser
  const errors: Array<string> = []
  const context = yield* Effect.acquireRelease(
    Effect.promise(() => driver.newContext()),
    (context) =>
      Effect.andThen(
        Effect.promise(() => context.close()),
        Effect.suspend(() => (errors.length === 0 ? Effect.void : Effect.die(new Error(errors.join("\n")))))
      )
  )
  return yield* Effect.promise(async (): Promise<Page> => {
    const page = await context.newPage()
    page.setDefaultTimeout(PATIENCE)
    page.on("pageerror", (error) => errors.push(String(error)))
    await page.goto(url)
    return page
  })
})

export interface Wire {
  readonly port: number
  /** What the browser sends from now on does not arrive. */
  readonly mute: Effect.Effect<void>
  /** Ends every connection at once, and lets nobody in until it is mended. */
  readonly cut: Effect.Effect<void>
  /** Leads to another port from now on, if one is named. */
  readonly mend: (port?: number) => Effect.Effect<void>
}

/** A wire to a port of this machine. */
export const wireTo = Effect.fnUntraced(function* (target: number) {
  const sockets = new Set<Socket>()
  let port = target
  let isCut = false
  let isMute = false
  const keep = (socket: Socket) => {
    sockets.add(socket)
    return socket.on("error", () => {}).on("close", () => sockets.delete(socket))
  }
  const cut = (): void => {
    isCut = true
    for (const socket of sockets) socket.destroy()
  }
  const server = yield* Effect.acquireRelease(
    Effect.callback<ReturnType<typeof createServer>>((resume) => {
      const server = createServer((near) => {
        if (isCut) {
          near.destroy()
          return
        }
        const far = keep(connect(port, "127.0.0.1"))
        keep(near).on("data", (bytes) => isMute || far.write(bytes))
        far.pipe(near)
        near.on("close", () => far.destroy())
        far.on("close", () => near.destroy())
      })
      server.listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
    }),
    (server) =>
      Effect.sync(() => {
        cut()
        server.close()
      })
  )
  const wire: Wire = {
    port: (server.address() as AddressInfo).port,
    mute: Effect.sync(() => {
      isMute = true
    }),
    cut: Effect.sync(cut),
    mend: (other = port) =>
      Effect.sync(() => {
        port = other
        isCut = isMute = false
      })
  }
  return wire
})
