/** What everything stands on: files, paths and randomness of this machine, and the settings and tokens kept there. */
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodePath from "@effect/platform-node/NodePath"
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Layer from "effect/Layer"
import { TokenStore } from "../services/auth/TokenStore.ts"
import { type Flags, Settings } from "../services/Settings.ts"

/** Randomness of the system; its module takes 5 ms to load, so it is fetched at the first use. */
const randomness = Layer.succeed(
  SecureRandom.SecureRandom,
  SecureRandom.make((size) => process.getBuiltinModule("node:crypto").randomBytes(size))
)

/** Files, paths and randomness of this machine. */
export const platform = Layer.mergeAll(NodeFileSystem.layer, NodePath.layer, randomness)

/** The settings under the flags of a command line, and what they are read with. */
export const settings = (flags: Flags) => Layer.provideMerge(Settings.layer(flags), platform)

/** The gateway tokens of this machine, whatever the flags. */
export const tokenStore: Layer.Layer<TokenStore> = Layer.provide(TokenStore.layer, settings({ alwaysApprove: false }))
