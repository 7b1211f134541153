import { readFileSync } from 'node:fs'
import { uptime } from 'node:os'
import type { PaceState } from '../../../src/infra/robots/pace.ts'
import { systemClock } from '../../../src/kernel/clock.ts'
import { errorMessage } from '../../../src/kernel/errors.ts'
import { SECOND } from '../../../src/kernel/time.ts'
import { makeDirectoryOf, writeFileAtomically } from '../atomic-file.ts'
import { bootId } from '../lock.ts'
import type { Category } from '../notification.ts'

/** For how long one mail of a category keeps others back. spec, rule 10: tickets 900 s. */
const THROTTLE_MS: Readonly<Record<Category, number>> = {
  ticket: 900 * SECOND,
  digest: 0,
  'self-test': 0,
}

/** A point in time that another process can compare with its own, whatever was done to the clock in between. */
export interface Moment {
  readonly at: number
  /** Seconds since the boot. */
  readonly uptime: number
  readonly boot: string
}

/** What the notification module remembers from one run to the next. */
export interface Memory {
  /** How long mail of this category still has to wait, in milliseconds. */
  throttledMs(category: Category): number
  noteMail(category: Category): void
  pace(): PaceState | undefined
  keepPace(state: PaceState): void
  /** Why the last change may be forgotten by the next run. */
  problem(): string | undefined
}

interface MemoryData {
  readonly mail: Readonly<Partial<Record<Category, Moment>>>
  readonly pace?: PaceState
}

/** Opens the memory in that file; one that cannot be read begins anew. */
export function openMemory(path: string, present: () => Moment = presentMoment): Memory {
  let data = readMemory(path)
  let problem: string | undefined
  const change = (changes: Partial<MemoryData>) => {
    data = { ...data, ...changes }
    try {
      makeDirectoryOf(path)
      writeFileAtomically(path, `${JSON.stringify(data)}\n`)
    } catch (error) {
      problem = `${path} cannot be written: ${errorMessage(error)}`
    }
  }
  const noteMail = (category: Category, moment: Moment) =>
    change({ mail: { ...data.mail, [category]: moment } })
  return {
    throttledMs(category) {
      const last = data.mail[category]
      if (!last) return 0
      const now = present()
      const elapsed = elapsedMs(last, now)
      if (elapsed >= 0) return Math.max(0, THROTTLE_MS[category] - elapsed)
      // The clock was set back: the wait begins again, so that it ends.
      noteMail(category, now)
      return THROTTLE_MS[category]
    },
    noteMail: (category) => noteMail(category, present()),
    pace: () => data.pace,
    keepPace: (pace) => change({ pace }),
    problem: () => problem,
  }
}

/** By the time since the boot where that is comparable: a clock that is set forward ends no throttle. */
function elapsedMs(then: Moment, now: Moment): number {
  return then.boot !== '' && then.boot === now.boot ? (now.uptime - then.uptime) * SECOND : now.at - then.at
}

function presentMoment(): Moment {
  return { at: systemClock.now(), uptime: uptime(), boot: bootId() }
}

function readMemory(path: string): MemoryData {
  try {
    const { mail, pace } = fieldsOf(JSON.parse(readFileSync(path, 'utf8')))
    const moments = Object.entries(fieldsOf(mail)).filter((entry): entry is [string, Moment] =>
      isMoment(entry[1]),
    )
    return { mail: Object.fromEntries(moments), ...(isPace(pace) && { pace }) }
  } catch {
    return { mail: {} }
  }
}

function isMoment(value: unknown): value is Moment {
  const { at, uptime: seconds, boot } = fieldsOf(value)
  return Number.isFinite(at) && Number.isFinite(seconds) && typeof boot === 'string'
}

function isPace(value: unknown): value is PaceState {
  const { tokens, at, blockedUntil } = fieldsOf(value)
  return [tokens, at, blockedUntil].every(Number.isFinite)
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? { ...value } : {}
}
