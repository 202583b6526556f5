/** The folder in which a project keeps what it has for the agent. */
export const OWN_FOLDER = ".supercharge"
