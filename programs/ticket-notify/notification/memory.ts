import { readFileSync } from 'node:fs'
import { uptime } from 'node:os'
import type { BucketState } from '../../../src/kernel/waiting.ts'
import { systemClock } from '../../../src/kernel/clock.ts'
import { errorMessage } from '../../../src/kernel/errors.ts'
import { SECOND } from '../../../src/kernel/time.ts'
import { bootId } from '../../files/process-lock.ts'
import { replaceFile } from '../../files/replace-file.ts'
import { makeDirectoryOf } from '../file-writes.ts'
import type { Category } from '../notification.ts'
import { fieldsOf } from '../tickets.ts'

/** The shortest time between two mails of a category (docs/specification.md, Limits). */
const THROTTLE_MS: Readonly<Record<Category, number>> = {
  ticket: 900 * SECOND,
  digest: 0,
  'self-test': 0,
}

/** A time that another process can compare with its own although the clock was set in between. */
export interface Moment {
  readonly at: number
  /** Seconds since the boot. */
  readonly uptime: number
  readonly boot: string
}

interface MemoryData {
  readonly mail: Readonly<Partial<Record<Category, Moment>>>
  readonly pace?: BucketState
}

/** The throttle of mail and the rate limit of the robot, kept in a file between runs. */
export class ChannelMemory {
  readonly #path: string
  readonly #currentMoment: () => Moment
  #data: MemoryData
  #problem: string | undefined

  /** A file that cannot be read is an empty memory. */
  constructor(path: string, currentMoment: () => Moment = readMoment) {
    this.#path = path
    this.#currentMoment = currentMoment
    this.#data = readMemory(path)
  }

  /** Why the next run may not know the last change; undefined when it was saved. */
  get problem(): string | undefined {
    return this.#problem
  }

  get bucketState(): BucketState | undefined {
    return this.#data.pace
  }

  saveBucketState(pace: BucketState): void {
    this.#change({ pace })
  }

  /** How long mail of this category still has to wait, in milliseconds. */
  throttledMs(category: Category): number {
    const last = this.#data.mail[category]
    if (!last) return 0
    const now = this.#currentMoment()
    const elapsed = elapsedMs(last, now)
    if (elapsed >= 0) return Math.max(0, THROTTLE_MS[category] - elapsed)
    // The clock was set back: the wait begins again from now, so that it ends.
    this.#noteMail(category, now)
    return THROTTLE_MS[category]
  }

  noteMail(category: Category): void {
    this.#noteMail(category, this.#currentMoment())
  }

  #noteMail(category: Category, moment: Moment): void {
    this.#change({ mail: { ...this.#data.mail, [category]: moment } })
  }

  #change(changes: Partial<MemoryData>): void {
    this.#data = { ...this.#data, ...changes }
    try {
      makeDirectoryOf(this.#path)
      replaceFile(this.#path, `${JSON.stringify(this.#data)}\n`)
    } catch (error) {
      this.#problem = `${this.#path} cannot be written: ${errorMessage(error)}`
    }
  }
}

/**
 * The time between two moments. Within one boot it is measured by the uptime, which a change of the clock does not affect.
 */
function elapsedMs(then: Moment, now: Moment): number {
  return then.boot !== '' && then.boot === now.boot ? (now.uptime - then.uptime) * SECOND : now.at - then.at
}

function readMoment(): Moment {
  return { at: systemClock.now(), uptime: uptime(), boot: bootId() }
}

function readMemory(path: string): MemoryData {
  try {
    const { mail, pace } = fieldsOf(JSON.parse(readFileSync(path, 'utf8')))
    const moments = Object.entries(fieldsOf(mail)).filter((entry): entry is [string, Moment] =>
      isMoment(entry[1]),
    )
    return { mail: Object.fromEntries(moments), ...(isBucketState(pace) && { pace }) }
  } catch {
    return { mail: {} }
  }
}

function isMoment(value: unknown): value is Moment {
  const { at, uptime: seconds, boot } = fieldsOf(value)
  return Number.isFinite(at) && Number.isFinite(seconds) && typeof boot === 'string'
}

function isBucketState(value: unknown): value is BucketState {
  const { tokens, at, blockedUntil } = fieldsOf(value)
  return [tokens, at, blockedUntil].every(Number.isFinite)
}
