/** The kinds of agent that sessions can be. */
import * as Context from "effect/Context"
import * as Layer from "effect/Layer"
import { type Harness, harnesses } from "../domain/Harness.ts"

/** What `Harnesses` promises. Ids are unique. */
export interface HarnessesShape {
  /** The first one is that of sessions that name none, where the settings name none either. */
  readonly list: readonly [Harness, ...ReadonlyArray<Harness>]
  readonly find: (id: string) => Harness | undefined
}

const shapeOf = (list: HarnessesShape["list"]): HarnessesShape => ({
  list,
  find: (id) => list.find((harness) => harness.id === id)
})

/** Which harnesses there are: the built-in ones, unless an application provides others with `layerOf`. */
export const Harnesses = Context.Reference<HarnessesShape>("super-pi/Harnesses", {
  defaultValue: () => shapeOf(harnesses)
})

/** These and no others, the default one first: `Harnesses.layerOf([mine, ...harnesses])`. */
export const layerOf = (list: HarnessesShape["list"]): Layer.Layer<never> => Layer.succeed(Harnesses, shapeOf(list))
