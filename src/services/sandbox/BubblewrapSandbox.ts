/** Confines commands by bubblewrap. */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as ChildProcess from "effect/process/ChildProcess"
import * as Stream from "effect/Stream"
import { argumentsOf, layersOf, type BubblewrapPolicy } from "../../domain/sandbox/Bubblewrap.ts"
import { expectedMounts } from "../../domain/sandbox/MountTable.ts"
import { systemText } from "../files/SystemText.ts"
import { CommandFailed, type SandboxStatus } from "../SandboxRunner.ts"
import { makeConfinedPlaces } from "./ConfinedPlaces.ts"
import { findExecutable } from "./Executable.ts"
import { type Invocation, type Mechanism, type SandboxInput, unavailable, WITHOUT } from "./Mechanism.ts"
import { spawn } from "./Spawn.ts"

const PROBE_TIME = Duration.seconds(5)
const LAST_WORDS = 2_000

const ready: SandboxStatus = { _tag: "Ready", mechanism: "bubblewrap" }

const notInstalled = unavailable(
  "bubblewrap is not installed",
  `Install it (apt install bubblewrap, dnf install bubblewrap, pacman -S bubblewrap), ${WITHOUT}`
)

const refused = (words: string): SandboxStatus => {
  const said = words === "" ? "" : ` (${words})`
  return /namespace|permission denied|not permitted|uid map/i.test(words)
    ? unavailable(
        `bubblewrap may not make namespaces here${said}`,
        "Allow user namespaces: an AppArmor profile for bwrap on Ubuntu 24.04 and later, sysctl " +
          "kernel.unprivileged_userns_clone=1 on older Debian, --security-opt seccomp=unconfined or --privileged for a " +
          `container; ${WITHOUT}`
      )
    : unavailable(`bubblewrap does not work here${said}`, `Try "bwrap --ro-bind / / true" in a terminal, ${WITHOUT}`)
}

// bwrap ends with everything in it when it gets TERM. It must not, so that the command can end in its own way; what it
// starts is given the signal's usual meaning again.
const PATIENT = 'trap "" TERM INT HUP; exec "$@"'
const attentive: ReadonlyArray<string> = ["--default-signal=TERM,INT,HUP"]

// The first thing inside: whether what was meant is mounted where it was meant. An earlier command that still runs could
// have put a link there at the last moment.
const VERIFIED = `end='
'
seen=$end
while read -r _ _ device root point _; do seen="$seen$device $root $point$end"; done </proc/self/mountinfo
count=$1
shift
while [ "$count" -gt 0 ]; do
  case $1 in ' '*) wanted=$1$end ;; *) wanted=$end$1$end ;; esac
  case $seen in
  *"$wanted"*) ;;
  *) echo "The command was not run: $1 changed while it was being confined. Try again" >&2; exit 126 ;;
  esac
  shift
  count=$((count - 1))
done
exec "$@"`

/** Nothing at all is open: enough to find out whether anything can be confined. */
const trial = (asRoot: boolean): BubblewrapPolicy => ({
  places: [{ path: "/", type: "folder", treatment: "readable" }],
  temporary: "/",
  links: [],
  kernel: [],
  asRoot,
  network: false,
  cwd: "/"
})

export const makeBubblewrap = Effect.fnUntraced(function* (input: SandboxInput): Effect.fn.Return<Mechanism> {
  const { environment, fs, isRoot, path, spawner } = input
  const places = makeConfinedPlaces(input)
  const find = (name: string) => findExecutable(fs, path, environment, name)

  const succeeds = Effect.fnUntraced(
    function* ([program, ...args]: Invocation) {
      const handle = yield* spawn(
        spawner,
        ChildProcess.make(program, args, { stdin: "ignore", stdout: "ignore", forceKillAfter: "500 millis" })
      )
      const words = yield* Stream.runFold(
        Stream.decodeText(handle.stderr),
        () => "",
        (text, piece) => (text + piece).slice(-LAST_WORDS)
      )
      return { succeeded: (yield* handle.exitCode) === 0, words: words.trim() }
    },
    Effect.scoped,
    Effect.timeoutOrElse({
      duration: PROBE_TIME,
      orElse: () => Effect.succeed({ succeeded: false, words: "it did not answer" })
    }),
    Effect.catch((error) => Effect.succeed({ succeeded: false, words: systemText(error) }))
  )

  const probe = yield* Effect.cached(
    Effect.gen(function* () {
      const bwrap = yield* find("bwrap")
      if (bwrap === undefined) return { status: notInstalled, bwrap: "", patience: [] }
      const tried = yield* succeeds([bwrap, ...argumentsOf(trial(isRoot)), "true"])
      if (!tried.succeeded) return { status: refused(tried.words), bwrap, patience: [] }
      const env = yield* find("env")
      const isPatient = env !== undefined && (yield* succeeds([env, ...attentive, "true"])).succeeded
      return { status: ready, bwrap, patience: isPatient && env !== undefined ? [env, ...attentive] : [] }
    })
  )

  return {
    status: Effect.map(probe, ({ status }) => status),
    confine: Effect.fnUntraced(function* (invocation, profile, confinement, cwd) {
      const { bwrap, patience } = yield* probe
      const { policy, watched } = yield* places.find(profile, confinement, cwd)
      const layers = layersOf(policy.places)
      const table = yield* Effect.mapError(
        fs.readFileString("/proc/self/mountinfo"),
        (error) => new CommandFailed({ message: `The command could not be confined: ${systemText(error)}` })
      )
      const expected = expectedMounts(table, layers)
      const inside = ["/bin/sh", "-c", VERIFIED, "sh", String(expected.length), ...expected, ...patience, ...invocation]
      const confined: Invocation = [bwrap, ...argumentsOf(policy), "--", ...inside]
      return {
        invocation: patience.length === 0 ? confined : ["/bin/sh", "-c", PATIENT, "sh", ...confined],
        watched,
        environment: {}
      }
    })
  }
})
