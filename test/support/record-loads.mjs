// Writes down every module that a process loads, one address a line, into the file that LOADED names.
import { appendFileSync } from "node:fs"
import { registerHooks } from "node:module"

registerHooks({
  load(url, context, next) {
    appendFileSync(process.env.LOADED, `${url}\n`)
    return next(url, context)
  }
})
