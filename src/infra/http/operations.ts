import { Type } from 'typebox'
import type { Clock } from '../../kernel/clock.ts'
import type { Bus } from '../../kernel/bus.ts'
import { Fields, OneOf } from '../../wire/schemas.ts'
import { ok, route, type Route } from '../../wire/route.ts'

export interface OperationsOptions {
  readonly version: string
  /** The modules that run in this process. */
  readonly modules: readonly string[]
  readonly readOnly: boolean
  readonly clock: Clock
  /** Rejects if the database cannot be used. */
  readonly checkStore: () => Promise<void>
  readonly bus: Pick<Bus, 'state' | 'problem'>
  readonly exposeMetrics: () => Promise<{ contentType: string; body: string }>
}

const HealthSchema = Fields(
  {
    status: OneOf(['ok', 'degraded', 'failing'], '`degraded`: events wait for the bus.'),
    version: Type.String(),
    modules: Type.Array(Type.String()),
    read_only: Type.Boolean({ description: 'Whether the process refuses changes.' }),
    uptime_seconds: Type.Number(),
    checks: Fields({
      store: OneOf(['ok', 'failing']),
      bus: OneOf(['ok', 'degraded', 'offline'], '`degraded`: connected, but events wait for a stream.'),
    }),
  },
  { $id: 'Health' },
)

/** Health and metrics of a process (docs/specification.md, HTTP API). */
export function operationsRoutes(options: OperationsOptions): Route[] {
  const { clock, version, modules, readOnly } = options
  const startedAt = clock.monotonic()
  return [
    route({
      method: 'GET',
      path: '/health',
      operation: 'getHealth',
      tag: 'Operations',
      summary: 'Health of the process',
      access: 'public',
      answers: {
        200: { description: '`ok`, or `degraded` while events wait for the bus.', schema: HealthSchema },
        503: { description: 'The database cannot be used.', schema: HealthSchema },
      },
      read: async () => {
        const store = await options.checkStore().then(
          () => 'ok' as const,
          () => 'failing' as const,
        )
        const bus = checkBus(options.bus)
        const status = store === 'failing' ? 'failing' : bus === 'ok' ? 'ok' : 'degraded'
        const uptime = Math.round(clock.monotonic() - startedAt) / 1_000
        const body = {
          status,
          version,
          modules: [...modules],
          read_only: readOnly,
          uptime_seconds: uptime,
          checks: { store, bus },
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
        const { contentType, body } = await options.exposeMetrics()
        return ok(body, { 'content-type': contentType })
      },
    }),
  ]
}

function checkBus({ state, problem }: OperationsOptions['bus']): 'ok' | 'degraded' | 'offline' {
  if (state !== 'connected') return 'offline'
  return problem === undefined ? 'ok' : 'degraded'
}
