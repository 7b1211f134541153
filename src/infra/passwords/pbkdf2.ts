import { pbkdf2, randomBytes, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'
import { AppError } from '../../kernel/errors.ts'
import { createSlots } from './slots.ts'

export interface PasswordOptions {
  /** Of new hashes; a test lowers it. */
  readonly iterations?: number
  /** Derivations at once. They share the thread pool with files and DNS, so they must not take all of it. */
  readonly concurrency?: number
  /** Derivations that may wait; one more is refused with `rate_limited`. */
  readonly queueLimit?: number
}

/** What a comparison found; `outdated` says that the hash should be made anew from the password just given. */
export interface PasswordCheck {
  readonly matches: boolean
  readonly outdated: boolean
}

/**
 * Password hashes `pbkdf2-sha256$<iterations>$<salt>$<hash>` (contract, Identity), made on the thread pool.
 * Every method rejects with `rate_limited` when too many are waiting.
 */
export interface Passwords {
  hash(password: string): Promise<string>
  /** A hash that cannot be read matches nothing. */
  verify(password: string, stored: string): Promise<PasswordCheck>
  /** Takes as long as {@link verify} and tells nothing; for a user who does not exist. */
  waste(password: string): Promise<void>
}

// OWASP Password Storage Cheat Sheet: PBKDF2-HMAC-SHA256
const ITERATIONS = 600_000
// Read from a row that was tampered with, more would hold a thread for minutes.
const ITERATIONS_LIMIT = 10_000_000
const SALT_BYTES = 16
const HASH_BYTES = 32

const STORED = /^pbkdf2-sha256\$([1-9]\d{0,7})\$([A-Za-z0-9_-]{1,128})\$([A-Za-z0-9_-]{22,128})$/

interface Stored {
  readonly iterations: number
  readonly salt: Buffer
  readonly hash: Buffer
}

const derive = promisify(pbkdf2)

export function createPasswords(options: PasswordOptions = {}): Passwords {
  const { iterations = ITERATIONS, concurrency = 2, queueLimit = 32 } = options
  const inSlot = createSlots({ concurrency, queueLimit, full: tooMany })

  const derived = (password: string, salt: Buffer, rounds: number, bytes: number) =>
    inSlot(() => derive(password, salt, rounds, bytes, 'sha256'))

  const waste = async (password: string) => {
    await derived(password, Buffer.alloc(SALT_BYTES), iterations, HASH_BYTES)
  }

  const isOutdated = (stored: Stored) =>
    stored.iterations < iterations || stored.salt.length < SALT_BYTES || stored.hash.length < HASH_BYTES

  return {
    waste,

    async hash(password) {
      const salt = randomBytes(SALT_BYTES)
      return format({ iterations, salt, hash: await derived(password, salt, iterations, HASH_BYTES) })
    },

    async verify(password, text) {
      const stored = parse(text)
      if (!stored) {
        await waste(password)
        return { matches: false, outdated: false }
      }
      const hash = await derived(password, stored.salt, stored.iterations, stored.hash.length)
      return { matches: timingSafeEqual(hash, stored.hash), outdated: isOutdated(stored) }
    },
  }
}

function format({ iterations, salt, hash }: Stored): string {
  return `pbkdf2-sha256$${iterations}$${salt.toString('base64url')}$${hash.toString('base64url')}`
}

function parse(text: string): Stored | undefined {
  const [, rounds, salt, hash] = STORED.exec(text) ?? []
  if (rounds === undefined || salt === undefined || hash === undefined) return undefined
  const iterations = Number(rounds)
  if (iterations > ITERATIONS_LIMIT) return undefined
  return { iterations, salt: Buffer.from(salt, 'base64url'), hash: Buffer.from(hash, 'base64url') }
}

function tooMany(): AppError {
  return new AppError('rate_limited', 'rate_limited', 'Too many passwords are being checked at the moment.', {
    retryAfterSeconds: 1,
  })
}
