/** Something that a person has to put right; its message says what, in one line. */
export class SetupError extends Error {}
