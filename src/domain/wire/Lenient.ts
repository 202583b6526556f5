/**
 * What the other side may get wrong without breaking its message, one combinator for each such mistake.
 * They change decoding only; what we write stays strict.
 */
import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as SchemaGetter from "effect/SchemaGetter"

/** An optional key whose bad value vanishes; `null` is one unless `schema` takes it. */
export const drop = <S extends Schema.Constraint>(schema: S) =>
  Schema.optionalKey(Schema.catchDecoding<S>(() => Effect.succeedNone)(schema))

/** An optional key that may be `null`; anything else that does not fit is an error. */
export const nullable = <S extends Schema.Constraint>(schema: S) => Schema.optionalKey(Schema.NullOr(schema))

/** An array that has to be there, but may be `null` for empty. A bad element is an error. */
export const emptyArray = <S extends Schema.Constraint>(item: S) =>
  Schema.NullOr(Schema.Array(item)).pipe(
    Schema.decodeTo(Schema.Array(Schema.toType(item)), {
      decode: SchemaGetter.transform((items) => items ?? []),
      encode: SchemaGetter.passthroughSubtype()
    })
  )

/** An array whose bad elements vanish, of plain values. */
export const items = <A>(item: Schema.ConstraintCodec<A>) => {
  const decode = Schema.decodeUnknownOption(item)
  return Schema.Array(Schema.Unknown).pipe(
    Schema.decodeTo(Schema.Array(Schema.toType(item)), {
      decode: SchemaGetter.transform((all) => Arr.getSomes(all.map((one) => decode(one)))),
      encode: SchemaGetter.passthroughSubtype()
    })
  )
}

/** A variant that a later protocol may define: its other keys are kept as they are. */
export const open = <const Fields extends Schema.Struct.Fields>(fields: Fields) =>
  Schema.StructWithRest(Schema.Struct(fields), [Schema.Record(Schema.String, Schema.Json)])

/** A discriminator of an open union that none of its known variants uses: a malformed known variant stays an error. */
export const otherThan = (...known: ReadonlyArray<string>) =>
  Schema.String.check(
    Schema.makeFilter((tag: string) => !known.includes(tag), { expected: `none of ${known.join(", ")}` })
  )

/** Free-form data beside a message, passed on untouched. */
export const meta = drop(Schema.Record(Schema.String, Schema.Json))
