/** A problem that the user can solve. The message is shown without a stack trace. */
export class SetupError extends Error {}
