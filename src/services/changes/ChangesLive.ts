/** `Changes` over files of this machine: versions in the session's folder, git where there is one. */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Path from "effect/Path"
import { ChildProcessSpawner } from "effect/process/ChildProcessSpawner"
import type { Environment } from "../../domain/ChildEnvironment.ts"
import { Changes } from "../Changes.ts"
import { makeBlobs } from "./Blobs.ts"
import { makeCapture } from "./Capture.ts"
import { makeContents } from "./Contents.ts"
import { makeGit } from "./Git.ts"
import { makeListing } from "./Listing.ts"
import { makeNetDiff } from "./NetDiff.ts"
import { makeRecorder } from "./Recorder.ts"
import { makeSnapshots } from "./Snapshots.ts"
import { makeUndo } from "./Undo.ts"

/** `environment` is what git inherits, such as the process's own. */
export const layer = (
  environment: Environment
): Layer.Layer<Changes, never, ChildProcessSpawner | FileSystem.FileSystem | Path.Path> =>
  Layer.effect(
    Changes,
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const paths = yield* Path.Path
      const spawner = yield* ChildProcessSpawner
      const blobs = makeBlobs(fs, paths)
      const begin = makeCapture(fs, paths, blobs)
      const git = makeGit(fs, paths, spawner, environment)
      const contents = makeContents(fs, paths, blobs, git)
      const snapshots = makeSnapshots(fs, paths, makeListing(fs, paths, git), contents)
      return {
        ...makeRecorder(fs, paths, begin, snapshots),
        undo: makeUndo(fs, paths, blobs, begin),
        diff: makeNetDiff(blobs),
        inherit: Effect.fn("Changes.inherit")(blobs.inherit)
      }
    })
  )
