import { NightAlerts, type NightAlertsOptions } from '../../programs/backup/alerts/night-alerts.ts'
import {
  OUTBOX_FILE,
  REFUSED_FILE,
  type OutboxFileName,
  type OutboxFiles,
} from '../../programs/backup/alerts/outbox-files.ts'
import {
  BACKUP_IDENTITY,
  type PlatformApi,
  type PlatformCall,
  type PlatformOutcome,
} from '../../programs/backup/alerts/platform-client.ts'
import type { WaitingClock } from '../../src/kernel/clock.ts'
import type { LogFields, Logger } from '../../src/kernel/logger.ts'
import { fakeClock } from './clock.ts'

/** A clock on which every wait ends at once, after its time. */
export function instantClock(): WaitingClock & ReturnType<typeof fakeClock> {
  const clock = fakeClock()
  return {
    ...clock,
    async wait(milliseconds, signal) {
      if (!signal?.aborted) clock.advance(milliseconds)
    },
  }
}

export interface LoggedLine {
  readonly level: 'error' | 'warn' | 'info' | 'debug'
  readonly fields: LogFields
  readonly message: string
}

export function recordingLogger(lines: LoggedLine[]): Logger {
  const at = (level: LoggedLine['level']) => (fields: LogFields, message: string) =>
    void lines.push({ level, fields, message })
  const logger: Logger = {
    error: at('error'),
    warn: at('warn'),
    info: at('info'),
    debug: at('debug'),
    child: () => logger,
  }
  return logger
}

/** How the platform reacts to a call; `lost` accepts it, and its answer does not arrive. */
export type Reaction = 'accept' | 'away' | 'lost' | number

/** A platform that takes each idempotency key once, and a change of a status once, as the real one. */
export class PlatformDouble implements PlatformApi {
  readonly calls: PlatformCall[] = []
  /** The calls that had an effect. */
  readonly effects: PlatformCall[] = []
  /** The reactions to the next calls; afterwards `otherwise`. */
  reactions: Reaction[] = []
  otherwise: Reaction = 'accept'
  retryAfterMs = 0
  /** How long each call takes. */
  onCall: (call: PlatformCall) => void = () => undefined
  readonly #answers = new Map<string, PlatformOutcome>()

  async send(call: PlatformCall): Promise<PlatformOutcome> {
    this.calls.push(call)
    this.onCall(call)
    const reaction = this.reactions.shift() ?? this.otherwise
    if (reaction === 'away') return unavailable('the connection failed (ECONNREFUSED)')
    if (reaction === 'lost') {
      this.#accept(call)
      return unavailable('the connection failed (ECONNRESET)')
    }
    if (reaction === 'accept') return this.#accept(call)
    const reason = `HTTP status ${reaction}`
    return [429, 500, 503].includes(reaction)
      ? { ...unavailable(reason, this.retryAfterMs), status: reaction }
      : { outcome: 'refused', status: reaction, reason }
  }

  /** The titles of the accepted reports, in order. */
  titles(): string[] {
    return this.effects.map(({ body }) => String((body as { title?: unknown }).title))
  }

  #accept(call: PlatformCall): PlatformOutcome {
    if (call.method === 'GET') return { outcome: 'accepted', body: { comments: this.#comments(call.path) } }
    const key = call.idempotencyKey ?? JSON.stringify([call.path, call.body])
    const isComment = 'comment' in Object(call.body)
    const known = isComment ? undefined : this.#answers.get(key)
    if (known) return known
    this.effects.push(call)
    const answer: PlatformOutcome = { outcome: 'accepted', body: { id: `made-${this.effects.length}` } }
    this.#answers.set(key, answer)
    return answer
  }

  #comments(path: string) {
    const changes = this.effects.filter((call) => call.path === path).map(({ body }) => Object(body))
    return changes
      .filter(({ comment }) => comment !== undefined)
      .map(({ comment }) => ({ author: BACKUP_IDENTITY.id, text: comment }))
  }
}

function unavailable(reason: string, retryAfterMs = 0): PlatformOutcome & { outcome: 'unavailable' } {
  return { outcome: 'unavailable', reason, retryAfterMs }
}

/** Files in memory, which outlive the processes that use them. */
export class MemoryOutboxFiles implements OutboxFiles {
  readonly texts = new Map<OutboxFileName, string>()
  readonly #held = new Set<string>()

  path(name: OutboxFileName): string {
    return `/backups/${name}`
  }

  read(name: OutboxFileName): string {
    return this.texts.get(name) ?? ''
  }

  replace(name: OutboxFileName, text: string): void {
    this.texts.set(name, text)
  }

  moveAside(name: OutboxFileName): string {
    this.texts.delete(name)
    return `${this.path(name)}.unreadable`
  }

  lock(name: string): Disposable | undefined {
    if (this.#held.has(name)) return undefined
    this.#held.add(name)
    return { [Symbol.dispose]: () => void this.#held.delete(name) }
  }

  /** The entries that wait. */
  lines(name: OutboxFileName = OUTBOX_FILE): string[] {
    return this.read(name).split('\n').filter(Boolean)
  }

  refused(): { readonly reason: string; readonly entry?: { readonly body: { readonly title: string } } }[] {
    return this.lines(REFUSED_FILE).map((line) => JSON.parse(line))
  }
}

export interface NightAlertsWorld {
  readonly alerts: NightAlerts
  readonly api: PlatformDouble
  readonly files: MemoryOutboxFiles
  readonly clock: ReturnType<typeof instantClock>
  readonly logged: LoggedLine[]
  /** Alerts of another process with the same files and the same platform. */
  another(change?: Partial<NightAlertsOptions>): NightAlerts
}

/** The alerts of one run, with doubles of files and platform. */
export function nightAlertsWorld(change: Partial<NightAlertsOptions> = {}): NightAlertsWorld {
  const api = new PlatformDouble()
  const files = new MemoryOutboxFiles()
  const clock = instantClock()
  const logged: LoggedLine[] = []
  const another = (more: Partial<NightAlertsOptions> = {}) =>
    new NightAlerts({
      ...NIGHT_ALERTS_OPTIONS,
      files,
      api,
      clock,
      logger: recordingLogger(logged),
      ...change,
      ...more,
    })
  return { alerts: another(), api, files, clock, logged, another }
}

/** The options that the routine reads from its configuration. */
export const NIGHT_ALERTS_OPTIONS = {
  server: 'primary',
  serverAddr: '192.0.2.10',
  variables: { server_name: 'web1', backup_window_start: '02:00' },
  templates: {},
} as const

/** A report whose title is the given text. */
export function reportTitle(title: string): { readonly backup_id: string } {
  return { backup_id: title }
}
