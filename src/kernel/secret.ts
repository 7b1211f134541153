import { inspect } from 'node:util'

/** Printed in the place of a secret, wherever a text may contain one. */
export const REDACTED = '**redacted**'

/**
 * A value that must not be printed: its string, JSON and `inspect` forms are all `**redacted**`.
 * `reveal()` is called only where the value is used, so that a search for it lists every use.
 */
export class Secret<T = string> {
  readonly #value: T

  constructor(value: T) {
    this.#value = value
  }

  reveal(): T {
    return this.#value
  }

  toString(): string {
    return REDACTED
  }

  toJSON(): string {
    return REDACTED
  }

  [inspect.custom](): string {
    return REDACTED
  }
}

/** The keys of one purpose while they are rotated: the first signs and encrypts, every one verifies and decrypts. */
export type RotatedKeys = readonly [current: Secret, ...former: Secret[]]
