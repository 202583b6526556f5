/**
 * What of some folders is a workspace. What is private on the machine is no part of it, unless the workspace lies in there
 * itself: a session in the home folder does not have the keys that are kept in it. All paths are real ones.
 */
import { isWithin } from "./Paths.ts"

/** A file system may take letters for the same that differ in case, and a name more that is private asks only too often. */
const liesIn = (folder: string, path: string): boolean => isWithin(folder.toLowerCase(), path.toLowerCase())

/** A test for what is private to somebody who looks from a folder. */
export const closedFrom =
  (folder: string, privates: ReadonlyArray<string>) =>
  (path: string): boolean =>
    privates.some((place) => liesIn(place, path) && !liesIn(place, folder))

/** A test for what lies in one of the folders and is not private from there. */
export const inside = (
  folders: ReadonlyArray<string>,
  privates: ReadonlyArray<string>
): ((path: string) => boolean) => {
  const tests = folders.map((folder) => ({ folder, isClosed: closedFrom(folder, privates) }))
  return (path) => tests.some(({ folder, isClosed }) => isWithin(folder, path) && !isClosed(path))
}
