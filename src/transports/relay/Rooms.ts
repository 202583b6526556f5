/**
 * Who meets whom at a relay. A room belongs to one agent at a time, which leaves spare links there; each client takes one.
 * A link is taken once, in the order of arrival, and is given back when its client left before it was used.
 */
import * as Deferred from "effect/Deferred"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"

/** What bounds a relay. */
export interface RoomLimits {
  /** Rooms with an agent. Default 1024. */
  readonly rooms: number
  /** Links of one agent, in use and spare. Default 257. */
  readonly links: number
  /** Links of one agent that no client uses. Default 2. */
  readonly spares: number
  /** Clients that wait for an agent, in all rooms. Default 256. */
  readonly waiting: number
  /** Clients that wait in one room. Default 16. */
  readonly waitingInRoom: number
  /** How long a client waits for an agent. Default 10 seconds. */
  readonly patience: Duration.Input
}

export const defaultRoomLimits: RoomLimits = {
  rooms: 1024,
  links: 257,
  spares: 2,
  waiting: 256,
  waitingInRoom: 16,
  patience: "10 seconds"
}

/** Why an agent may not enter: the room is another one's, or a limit is reached. The message is for its log. */
export class EntryRefused extends Schema.TaggedError<EntryRefused>()("EntryRefused", {
  taken: Schema.Boolean,
  message: Schema.String
}) {}

/** How it ended for a client: joined, or not, for nobody is there, or no link of the agent, or too many wait already. */
export type Joined = "joined" | "nobody" | "busy" | "crowded"

export interface Rooms<Link> {
  /** Why an agent could not enter at this moment. */
  readonly refusal: (room: string, instance: string) => EntryRefused | undefined
  /** Leaves a link in a room, for as long as the scope is open. */
  readonly enter: (room: string, instance: string, link: Link) => Effect.Effect<void, EntryRefused, Scope.Scope>
  /** Takes a link and uses it. Waits for one until the client is gone, and not longer than the patience lasts. */
  readonly join: (
    room: string,
    gone: Effect.Effect<unknown>,
    use: (link: Link) => Effect.Effect<void>
  ) => Effect.Effect<Joined>
}

interface Seat<Link> {
  readonly link: Link
  isOpen: boolean
}

interface Waiter<Link> {
  seat: Seat<Link> | undefined
  readonly served: Deferred.Deferred<void>
}

interface Room<Link> {
  readonly spares: Array<Seat<Link>>
  readonly waiters: Array<Waiter<Link>>
  instance: string
  links: number
}

const remove = <A>(list: Array<A>, item: A): void => {
  const index = list.indexOf(item)
  if (index !== -1) list.splice(index, 1)
}

export const make = <Link>(options?: Partial<RoomLimits>): Rooms<Link> => {
  const limits = { ...defaultRoomLimits, ...options }
  const rooms = new Map<string, Room<Link>>()
  let waiting = 0

  const open = (name: string): Room<Link> => {
    const room = rooms.get(name) ?? { spares: [], waiters: [], instance: "", links: 0 }
    rooms.set(name, room)
    return room
  }

  const tidy = (name: string, room: Room<Link>): void => {
    // Who leaves late may have been in a room whose place another one has by now.
    if (room.links === 0 && room.waiters.length === 0 && rooms.get(name) === room) rooms.delete(name)
  }

  /** Gives a link to who waits longest, or keeps it. */
  const place = (room: Room<Link>, seat: Seat<Link>): void => {
    if (!seat.isOpen) return
    const waiter = room.waiters.find((one) => one.seat === undefined)
    if (waiter === undefined) return void room.spares.push(seat)
    waiter.seat = seat
    Deferred.doneUnsafe(waiter.served, Effect.void)
  }

  const refuse = (taken: boolean, message: string) => new EntryRefused({ taken, message })

  const refusal = (name: string, instance: string): EntryRefused | undefined => {
    const room = rooms.get(name)
    if (room === undefined || room.links === 0) {
      const held = [...rooms.values()].filter(({ links }) => links > 0).length
      return held < limits.rooms ? undefined : refuse(false, `This relay has its limit of ${limits.rooms} agents`)
    }
    if (room.instance !== instance) return refuse(true, "Another agent is connected with this token")
    if (room.links >= limits.links) return refuse(false, `This agent has its limit of ${limits.links} links`)
    return room.spares.length < limits.spares ? undefined : refuse(false, "This agent has spare links enough")
  }

  const enter = (name: string, instance: string, link: Link) =>
    Effect.acquireRelease(
      Effect.suspend(() => {
        const refused = refusal(name, instance)
        if (refused !== undefined) return Effect.fail(refused)
        const room = open(name)
        const seat: Seat<Link> = { link, isOpen: true }
        room.instance = instance
        room.links++
        place(room, seat)
        return Effect.succeed({ room, seat })
      }),
      ({ room, seat }) =>
        Effect.sync(() => {
          seat.isOpen = false
          room.links--
          remove(room.spares, seat)
          tidy(name, room)
        })
    ).pipe(Effect.asVoid)

  const wait = (name: string): { readonly room: Room<Link>; readonly waiter: Waiter<Link> } | undefined => {
    const room = open(name)
    const waiter: Waiter<Link> = { seat: room.spares.shift(), served: Deferred.makeUnsafe() }
    if (waiter.seat === undefined) {
      if (waiting >= limits.waiting || room.waiters.length >= limits.waitingInRoom) {
        tidy(name, room)
        return undefined
      }
      room.waiters.push(waiter)
      waiting++
    }
    return { room, waiter }
  }

  /** Ends the wait. A link that was given and not used goes to the next one. */
  const leave = (name: string, room: Room<Link>, waiter: Waiter<Link>): void => {
    if (room.waiters.includes(waiter)) waiting--
    remove(room.waiters, waiter)
    if (waiter.seat !== undefined) place(room, waiter.seat)
    waiter.seat = undefined
    tidy(name, room)
  }

  const join: Rooms<Link>["join"] = (name, gone, use) =>
    Effect.acquireUseRelease(
      Effect.sync(() => wait(name)),
      (place) => {
        if (place === undefined) return Effect.succeed((rooms.get(name)?.links ?? 0) > 0 ? "busy" : "crowded")
        const { room, waiter } = place
        const begin: Effect.Effect<Joined> = Effect.suspend(() => {
          const { seat } = waiter
          if (seat === undefined) return Effect.succeed(room.links === 0 ? "nobody" : "busy")
          waiter.seat = undefined
          leave(name, room, waiter)
          return Effect.as(use(seat.link), "joined")
        })
        if (waiter.seat !== undefined) return begin
        const served = Effect.raceFirst(Deferred.await(waiter.served), gone)
        return Effect.andThen(Effect.timeoutOption(served, limits.patience), begin)
      },
      (place) => Effect.sync(() => (place === undefined ? undefined : leave(name, place.room, place.waiter)))
    )

  return { refusal, enter, join }
}
