/** Serves the page of this folder to browsers of this machine: `node examples/browser/main.ts --port 8420`. */
import { readFileSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { parseArgs } from "node:util"

const { values } = parseArgs({ options: { port: { type: "string", default: "8420" } } })

const files = new Map([
  ["/", { name: "index.html", type: "text/html" }],
  ["/style.css", { name: "style.css", type: "text/css" }],
  ["/page.js", { name: "page.js", type: "text/javascript" }],
  ["/connection.js", { name: "connection.js", type: "text/javascript" }]
])

const server = createServer(({ url }, response) => {
  const file = files.get(url ?? "")
  if (file === undefined) {
    response.writeHead(404).end()
    return
  }
  response.writeHead(200, {
    "content-type": `${file.type}; charset=utf-8`,
    // Whatever an agent says: no script runs but that of the page.
    "content-security-policy": "default-src 'self'; connect-src http: https: ws: wss:"
  })
  response.end(readFileSync(join(import.meta.dirname, file.name)))
})

server.listen(Number(values.port), "127.0.0.1", () => {
  console.log(`Open http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
})
