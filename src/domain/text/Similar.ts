/** Names that a person or a model may have meant. */
import { identity } from "effect/Function"

const pairs = (word: string): ReadonlySet<string> => {
  const lower = ` ${word.toLowerCase()} `
  return new Set(Array.from({ length: lower.length - 1 }, (_, index) => lower.slice(index, index + 2)))
}

/** 0 to 1, by the letter pairs that two names share. */
const similarity = (one: string, other: string): number => {
  const first = pairs(one)
  const second = pairs(other)
  return (2 * first.intersection(second).size) / (first.size + second.size)
}

/** At most three, the closest first. `nameOf` takes the part of a candidate that is compared. */
export const closest = (
  name: string,
  candidates: ReadonlyArray<string>,
  nameOf: (candidate: string) => string = identity
): ReadonlyArray<string> =>
  candidates
    .map((candidate) => ({ candidate, score: similarity(name, nameOf(candidate)) }))
    .filter(({ score }) => score >= 0.5)
    .sort((one, other) => other.score - one.score)
    .slice(0, 3)
    .map(({ candidate }) => candidate)
