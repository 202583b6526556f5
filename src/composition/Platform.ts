/** What everything stands on: files, paths and randomness of this machine, and the settings and tokens kept there. */
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodePath from "@effect/platform-node/NodePath"
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as PlatformError from "effect/PlatformError"
import { realpath } from "node:fs"
import { TokenStore } from "../services/auth/TokenStore.ts"
import { type Flags, Settings } from "../services/Settings.ts"

/** Randomness of the system; its module takes 5 ms to load, so it is fetched at the first use. */
const randomness = Layer.succeed(
  SecureRandom.SecureRandom,
  SecureRandom.make((size) => process.getBuiltinModule("node:crypto").randomBytes(size))
)

/** Asks the system where a path really leads: the usual layer looks at each folder on the way by itself, one after the other. */
const files = Layer.effect(
  FileSystem.FileSystem,
  Effect.map(FileSystem.FileSystem, (fs) =>
    FileSystem.FileSystem.of({
      ...fs,
      realPath: (path) =>
        path.includes("\0")
          ? fs.realPath(path)
          : Effect.callback((resume) =>
              realpath.native(path, (error, real) => {
                if (error === null) resume(Effect.succeed(real))
                else resume(error.code === "ENOENT" ? Effect.fail(notFound(path, error)) : fs.realPath(path))
              })
            )
    })
  )
).pipe(Layer.provide(NodeFileSystem.layer))

const notFound = (path: string, cause: NodeJS.ErrnoException) =>
  PlatformError.systemError({
    _tag: "NotFound",
    module: "FileSystem",
    method: "realPath",
    pathOrDescriptor: path,
    syscall: cause.syscall,
    cause
  })

/** Files, paths and randomness of this machine. */
export const platform = Layer.mergeAll(files, NodePath.layer, randomness)

/** The settings under the flags of a command line, and what they are read with. */
export const settings = (flags: Flags) => Layer.provideMerge(Settings.layer(flags), platform)

/** The gateway tokens of this machine, whatever the flags. */
export const tokenStore: Layer.Layer<TokenStore> = Layer.provide(TokenStore.layer, settings({ alwaysApprove: false }))
