/** A small file of the agent's own that holds one value: decoded whole, and changed as `OwnText` changes one. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { type ChangeOptions, makeOwnText, OwnFileFailed, type OwnTextInput } from "./OwnText.ts"

export interface OwnFile<A> {
  /** `empty` where there is no file. */
  readonly read: Effect.Effect<A, OwnFileFailed>
  readonly change: <B>(apply: (value: A) => readonly [result: B, value: A]) => Effect.Effect<B, OwnFileFailed>
  /** The same for a change that can turn out to be none: what it fails with leaves the file as it was. */
  readonly attempt: <B, E>(
    apply: (value: A) => Effect.Effect<readonly [result: B, value: A], E>,
    options?: ChangeOptions
  ) => Effect.Effect<B, E | OwnFileFailed>
}

export interface OwnFileInput<A> extends Omit<OwnTextInput, "damaged"> {
  readonly schema: Schema.ConstraintCodec<A, string>
  readonly empty: A
  /** What it is, such as "list of remembered answers". */
  readonly what: string
  /** What to do after a damaged one was moved away, such as "create new tokens"; default: nothing. */
  readonly afterwards?: string
}

export const makeOwnFile = <A>(input: OwnFileInput<A>): OwnFile<A> => {
  const { afterwards, empty, path, schema, what } = input
  const decode = Schema.decodeUnknownEffect(schema)
  const encode = Schema.encodeEffect(schema)

  const damaged = () =>
    new OwnFileFailed({
      reason: "damaged",
      message: `${path} is no ${what} and was left as it is; restore it from a copy, or move it away${afterwards === undefined ? "" : ` and ${afterwards}`}`
    })
  const file = makeOwnText({ ...input, damaged })

  const valueOf = (text: string | undefined) =>
    text === undefined ? Effect.succeed(empty) : Effect.mapError(decode(text.replace(/^\uFEFF/, "")), damaged)

  const attempt: OwnFile<A>["attempt"] = (apply, options) =>
    file.attempt(
      Effect.fnUntraced(function* (text) {
        const [result, value] = yield* Effect.flatMap(valueOf(text), apply)
        return [result, yield* Effect.orDie(encode(value))] as const
      }),
      options
    )

  return {
    read: Effect.flatMap(file.read, valueOf),
    change: (apply) => attempt((value) => Effect.sync(() => apply(value))),
    attempt
  }
}
