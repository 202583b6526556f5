/**
 * Reads the tables of `config.toml` key by key, so that one bad value costs only itself. Complaints name the key and
 * the remedy and never quote a value: it may be a secret that was put in the wrong place.
 */
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import { closest } from "../../domain/text/Similar.ts"

/** How a value is read, and what people are told of it. Complaints say: "<key> must be <expected>; <otherwise>". */
export interface ConfigKey<A> {
  readonly schema: Schema.Codec<unknown, unknown>
  readonly decode: (value: unknown) => Option.Option<A>
  /** A sentence. */
  readonly about: string
  readonly expected: string
  /** What holds while the value does not fit. */
  readonly otherwise: string
  /** What holds where the key is absent, if that is a value. */
  readonly without?: string | number | boolean
  /** What holds while the value does not fit, if that is another one than where the key is absent. */
  readonly unreadable?: A
  /** Whether no value of it may be shown. */
  readonly isSecret: boolean
}

/** The usual ones are given by default. */
export type ConfigKeyText<A> = Pick<ConfigKey<A>, "about" | "expected"> &
  Partial<Pick<ConfigKey<A>, "otherwise" | "without" | "unreadable" | "isSecret">>

export const configKey = <S extends Schema.Codec<unknown, unknown>>(
  schema: S,
  key: ConfigKeyText<S["Type"]>
): ConfigKey<S["Type"]> => {
  const decode = Schema.decodeUnknownOption(schema)
  return {
    otherwise: "the value is ignored",
    isSecret: false,
    ...key,
    schema,
    // A date is an object without entries, which would pass for an empty table.
    decode: (value) => (Predicate.isDate(value) ? Option.none() : decode(value))
  }
}

/** The schema of what stands in the file, with what editors show of it: what a value becomes is nothing for them. */
export const described = ({ about, schema, without }: ConfigKey<unknown>): Schema.Codec<unknown, unknown> => {
  const written = schema.ast.encoding === undefined ? schema : Schema.toEncoded(schema)
  return written.annotate({ description: about, ...(without === undefined ? {} : { default: without }) })
}

/** The fields of a table that has these keys. */
export const optional = (
  keys: Readonly<Record<string, ConfigKey<unknown>>>
): Record<string, Schema.optionalKey<Schema.Codec<unknown, unknown>>> =>
  Object.fromEntries(Object.entries(keys).map(([name, key]) => [name, Schema.optionalKey(described(key))]))

/** Takes the path of a key, such as `models.default`, and what is wrong with it. */
export type Complain = (path: string, problem: string) => void

/** A value of a list with its place, such as `permission.deny[2]`. */
export interface ListItem {
  readonly path: string
  readonly value: unknown
}

/** A key that nobody reads. `path` hides a name that is no plain word; `meant` is the known name that is close to it. */
export interface UnknownKey {
  readonly name: string
  readonly path: string
  readonly meant: string | undefined
}

/** A table of the file. What is absent or does not fit reads as undefined or empty. */
export interface Section {
  readonly path: string
  readonly has: (name: string) => boolean
  readonly read: <A>(name: string, key: ConfigKey<A>) => A | undefined
  /** `otherwise` is what a complaint says to hold where it is no table; the first who asks for a section says it. */
  readonly section: (name: string, otherwise?: string) => Section
  /** Whether something else than a table stands where a section should. */
  readonly isMistaken: (name: string) => boolean
  /** The tables inside this one, by name. */
  readonly sections: () => ReadonlyArray<readonly [string, Section]>
  /** What stands in it beside the names that are known. */
  readonly unknown: (known: ReadonlyArray<string>) => ReadonlyArray<UnknownKey>
  /** The items of a list; a single value counts as a list of one. */
  readonly items: (name: string) => ReadonlyArray<ListItem>
}

/** A table as it was parsed. */
export type Document = Readonly<Record<string, unknown>>

/** A name that is repeated in complaints. Any other may be a value that slipped into the place of a key. */
const speakable = /^[A-Za-z0-9_.-]{1,64}$/

/** Where any name at all may stand, so may a key: it is told from a word by its digits, its dashes or its length. */
const plainWord = /^[A-Za-z_]{1,24}$/

/** A name as complaints speak it. */
export const spoken = (name: string): string => (speakable.test(name) ? name : "…")

/** The same for one that nobody reads. */
export const spokenUnknown = (name: string): string => (plainWord.test(name) ? name : "…")

export const isTable = (value: unknown): value is Document => Predicate.isObject(value) && !Predicate.isDate(value)

/** The value of an item that is no key of its own. */
export const readItem = <A>(item: ListItem, key: ConfigKey<A>, complain: Complain): A | undefined => {
  const value = key.decode(item.value)
  if (Option.isSome(value)) return value.value
  complain(item.path, `must be ${key.expected}; ${key.otherwise}`)
  return key.unreadable
}

const makeSection = (table: Document, path: string, complain: Complain): Section => {
  const pathOf = (name: string) => [path, spoken(name)].filter((part) => part !== "").join(".")
  const sectionOf = (name: string, value: unknown, otherwise: string): Section => {
    if (isTable(value)) return makeSection(value, pathOf(name), complain)
    complain(pathOf(name), `must be a table; write [${pathOf(name)}] and its keys below; ${otherwise}`)
    return makeSection({}, pathOf(name), complain)
  }
  // Several readers may ask for one section, and what is wrong with it is told once.
  const known = new Map<string, Section>()
  const section = (name: string, otherwise = "the value is ignored"): Section => {
    const found = known.get(name) ?? sectionOf(name, table[name] ?? {}, otherwise)
    known.set(name, found)
    return found
  }
  return {
    path,
    has: (name) => table[name] !== undefined,
    read: (name, key) =>
      table[name] === undefined ? undefined : readItem({ path: pathOf(name), value: table[name] }, key, complain),
    section,
    isMistaken: (name) => table[name] !== undefined && !isTable(table[name]),
    sections: () => Object.keys(table).map((name) => [name, section(name)]),
    unknown: (known) =>
      Object.keys(table)
        .filter((name) => !known.includes(name))
        .map((name) => ({ name, path: pathOf(spokenUnknown(name)), meant: closest(name, known)[0] })),
    items: (name) => {
      const value = table[name]
      if (value === undefined) return []
      if (!Array.isArray(value)) return [{ path: pathOf(name), value }]
      return value.map((item: unknown, index) => ({ path: `${pathOf(name)}[${index}]`, value: item }))
    }
  }
}

/**
 * Names the keys that nobody reads. Where other programs keep keys of their own, only those are named that were meant for a
 * known one.
 */
export const tellUnknown = (
  section: Section,
  known: ReadonlyArray<string>,
  complain: Complain,
  which: "all" | "misspelt" = "all"
): void => {
  for (const { meant, path } of section.unknown(known)) {
    if (meant !== undefined) complain(path, `is not read; did you mean ${meant}?`)
    else if (which === "all") complain(path, `is not read; the keys are ${known.join(", ")}`)
  }
}

/** The whole document. */
export const rootSection = (document: Document, complain: Complain): Section => makeSection(document, "", complain)

/** The table that stands in a list. */
export const sectionOfItem = (item: ListItem, complain: Complain): Section | undefined =>
  isTable(item.value) ? makeSection(item.value, item.path, complain) : undefined
