/** The configuration of projects. Loaded with the first prompt. */
export { layer } from "../services/project/ProjectsLive.ts"
