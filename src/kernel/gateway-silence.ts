/** A gateway that was silent for so many of its heartbeat intervals is dead (docs/specification.md, Gateway). */
export const INTERVALS_UNTIL_DEAD = 3
