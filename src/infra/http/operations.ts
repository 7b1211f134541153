import { Type } from 'typebox'
import type { Clock } from '../../kernel/clock.ts'
import type { Bus } from '../../kernel/bus.ts'
import type { Mirror, MirrorHealth } from '../../ports/user-source.ts'
import { Fields, Nullable, OneOf } from '../../wire/schemas.ts'
import { ok, route, type Route } from '../../wire/route.ts'
import { sharedWork } from './shared-work.ts'

export interface OperationsOptions {
  readonly version: string
  /** The commit that a release was built from. */
  readonly commit?: string | undefined
  /** The modules that run in this process. */
  readonly modules: readonly string[]
  readonly readOnly: boolean
  readonly clock: Clock
  /** Rejects if the database cannot be used. */
  readonly checkStore: () => Promise<void>
  readonly bus: Pick<Bus, 'state' | 'problem'>
  /** The copy of the primary's users, on a standby. */
  readonly mirror?: Pick<Mirror, 'health'> | undefined
  readonly exposeMetrics: () => Promise<{ contentType: string; body: string }>
}

const HealthSchema = Fields(
  {
    status: OneOf(
      ['ok', 'degraded', 'failing'],
      '`degraded`: events wait for the bus, or a standby does not reach its primary.',
    ),
    version: Type.String(),
    commit: Type.Optional(
      Type.String({ description: 'The commit that the program was built from; not in a checkout.' }),
    ),
    modules: Type.Array(Type.String()),
    read_only: Type.Boolean({ description: 'Whether the process refuses changes.' }),
    uptime_seconds: Type.Number(),
    checks: Fields({
      store: OneOf(['ok', 'failing']),
      bus: OneOf(
        ['ok', 'degraded', 'offline'],
        '`degraded`: connected, but events wait for a stream, or the bus does not take them.',
      ),
      mirror: Type.Optional(
        OneOf(
          ['ok', 'degraded', 'expired'],
          'Only on a standby. `degraded`: it goes by its copy of the users; `expired`: it opens no sessions.',
        ),
      ),
    }),
    mirror: Type.Optional(
      Fields(
        {
          age_seconds: Nullable<number>({
            type: 'number',
            description: 'How long ago the users were those of the primary; null before the first copy.',
          }),
          reason: Nullable<string>({ type: 'string', description: 'Why the check is not `ok`.' }),
        },
        { description: 'Only on a standby: its copy of the primary’s users.' },
      ),
    ),
  },
  { $id: 'Health' },
)

/** Health and metrics of a process (docs/specification.md, HTTP API). */
export function operationsRoutes(options: OperationsOptions): Route[] {
  const { clock, version, commit, modules, readOnly } = options
  const startedAt = clock.monotonic()
  // One set of bytes for all who ask at the same time.
  const expose = sharedWork(async () => {
    const { contentType, body } = await options.exposeMetrics()
    return { contentType, bytes: Buffer.from(body) }
  })
  return [
    route({
      method: 'GET',
      path: '/health',
      operation: 'getHealth',
      tag: 'Operations',
      summary: 'Health of the process',
      access: 'public',
      answers: {
        200: { description: '`ok`, or `degraded`: requests work.', schema: HealthSchema },
        503: { description: 'The database cannot be used.', schema: HealthSchema },
      },
      read: async () => {
        const store = await options.checkStore().then(
          () => 'ok' as const,
          () => 'failing' as const,
        )
        const bus = checkBus(options.bus)
        const mirror = options.mirror?.health()
        const status = statusOf([store, bus, mirror?.status ?? 'ok'])
        const uptime = Math.round(clock.monotonic() - startedAt) / 1_000
        const body = {
          status,
          version,
          ...(commit !== undefined && { commit }),
          modules: [...modules],
          read_only: readOnly,
          uptime_seconds: uptime,
          checks: { store, bus, ...(mirror && { mirror: mirror.status }) },
          ...(mirror && { mirror: mirrorBody(mirror) }),
        }
        return { status: store === 'failing' ? 503 : 200, body }
      },
    }),
    route({
      method: 'GET',
      path: '/metrics',
      operation: 'getMetrics',
      tag: 'Operations',
      summary: 'Metrics in the Prometheus text format',
      access: 'public',
      answers: {
        200: { description: 'Text, version 0.0.4.', schema: Type.String(), contentType: 'text/plain' },
      },
      read: async () => {
        const { contentType, bytes } = await expose()
        return ok(bytes, { 'content-type': contentType })
      },
    }),
  ]
}

function statusOf(checks: readonly string[]): 'ok' | 'degraded' | 'failing' {
  if (checks.includes('failing')) return 'failing'
  return checks.every((check) => check === 'ok') ? 'ok' : 'degraded'
}

function mirrorBody({ ageSeconds, reason }: MirrorHealth) {
  return { age_seconds: ageSeconds, reason }
}

function checkBus({ state, problem }: OperationsOptions['bus']): 'ok' | 'degraded' | 'offline' {
  if (state !== 'connected') return 'offline'
  return problem === undefined ? 'ok' : 'degraded'
}
