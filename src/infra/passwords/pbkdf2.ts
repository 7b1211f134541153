import { pbkdf2, randomBytes, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'
import PQueue from 'p-queue'
import { AppError } from '../../kernel/errors.ts'

export interface PasswordOptions {
  /** Iterations of new hashes; a test lowers it. */
  readonly iterations?: number
  /** Parallel derivations. They share the thread pool with files and DNS, so they must not take all of it. */
  readonly concurrency?: number
  /** Waiting derivations; one more is refused with `rate_limited`. */
  readonly queueLimit?: number
}

/** Whether the password is right; an `outdated` hash is weaker than new ones and should be replaced. */
export interface PasswordCheck {
  readonly matches: boolean
  readonly outdated: boolean
}

/**
 * Password hashes `pbkdf2-sha256$<iterations>$<salt>$<hash>`, computed on the thread pool. Every method rejects with
 * `rate_limited` when too many derivations are waiting.
 */
export interface Passwords {
  hash(password: string): Promise<string>
  /** An unreadable hash matches no password. */
  verify(password: string, stored: string): Promise<PasswordCheck>
  /** Takes as long as {@link verify}, so that a response time does not reveal whether a user exists. */
  waste(password: string): Promise<void>
}

// OWASP Password Storage Cheat Sheet: PBKDF2-HMAC-SHA256
const ITERATIONS = 600_000
// A manipulated row with more would occupy a thread for minutes.
const ITERATIONS_LIMIT = 10_000_000
const SALT_BYTES = 16
const HASH_BYTES = 32

const STORED = /^pbkdf2-sha256\$([1-9]\d{0,7})\$([A-Za-z0-9_-]{1,128})\$([A-Za-z0-9_-]{22,128})$/

interface Stored {
  readonly iterations: number
  readonly salt: Buffer
  readonly hash: Buffer
}

const pbkdf2Async = promisify(pbkdf2)

export function createPasswords(options: PasswordOptions = {}): Passwords {
  const { iterations = ITERATIONS, concurrency = 2, queueLimit = 32 } = options
  const queue = new PQueue({ concurrency })

  const derive = async (password: string, salt: Buffer, rounds: number, bytes: number) => {
    if (queue.pending + queue.size >= concurrency + queueLimit) throw tooManyDerivations()
    return queue.add(() => pbkdf2Async(password, salt, rounds, bytes, 'sha256'))
  }

  const waste = async (password: string) => {
    await derive(password, Buffer.alloc(SALT_BYTES), iterations, HASH_BYTES)
  }

  const isOutdated = (stored: Stored) =>
    stored.iterations < iterations || stored.salt.length < SALT_BYTES || stored.hash.length < HASH_BYTES

  return {
    waste,

    async hash(password) {
      const salt = randomBytes(SALT_BYTES)
      return format({ iterations, salt, hash: await derive(password, salt, iterations, HASH_BYTES) })
    },

    async verify(password, text) {
      const stored = parse(text)
      if (!stored) {
        await waste(password)
        return { matches: false, outdated: false }
      }
      const hash = await derive(password, stored.salt, stored.iterations, stored.hash.length)
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

function tooManyDerivations(): AppError {
  const message = 'Too many passwords are being checked; try again in a second.'
  return new AppError('rate_limited', 'rate_limited', message, { retryAfterSeconds: 1 })
}
