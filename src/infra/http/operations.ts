import { Type } from 'typebox'
import type { Clock } from '../../kernel/clock.ts'
import type { Bus } from '../../kernel/bus.ts'
import type { Mirror, MirrorHealth } from '../../ports/user-source.ts'
import { Fields, Nullable, OneOf } from '../../wire/schemas.ts'
import { ok, type Route, type Answer, routeOf } from '../../wire/route.ts'
import { sharedWork } from './shared-work.ts'
import type { Lifecycle } from '../../kernel/process.ts'
import { describeSettings, type LoadedConfig } from '../../config/config.ts'
import { SETTING_TABLE } from '../../config/schema.ts'

const route = routeOf('Operations')

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

interface ProbesOptions {
  readonly lifecycle: Pick<Lifecycle, 'phase'>
  /** Rejects if the database cannot be used. */
  readonly checkStore: () => Promise<void>
}

const LiveSchema = Fields({ status: OneOf(['live']) }, { $id: 'Live' })

const ReadySchema = Fields(
  {
    status: OneOf(
      ['ready', 'starting', 'draining', 'failing'],
      '`draining`: the process stops; `failing`: it cannot use the database.',
    ),
  },
  { $id: 'Ready' },
)

const COMMON = { method: 'GET', access: 'public', isProbe: true } as const

/** What supervisors and load balancers ask a process (docs/specification.md, Health). */
export function probeRoutes(options: ProbesOptions): Route[] {
  return [
    route({
      ...COMMON,
      path: '/health/live',
      operation: 'getLive',
      summary: 'Whether the process answers',
      description: 'Uses neither the database nor the bus. Restart a process that does not answer.',
      answers: { 200: { description: 'The process answers.', schema: LiveSchema } },
      read: () => ok({ status: 'live' }),
    }),
    route({
      ...COMMON,
      path: '/health/ready',
      operation: 'getReady',
      summary: 'Whether the process takes requests',
      description: 'For load balancers. The state of the bus does not matter, because events wait for it.',
      answers: {
        200: { description: 'Send requests.', schema: ReadySchema },
        503: { description: 'Send no requests now.', schema: ReadySchema },
      },
      read: () => readiness(options),
    }),
  ]
}

async function readiness({ lifecycle, checkStore }: ProbesOptions): Promise<Answer> {
  if (lifecycle.phase !== 'running') return { status: 503, body: { status: lifecycle.phase } }
  return checkStore().then(
    () => ok({ status: 'ready' }),
    () => ({ status: 503, body: { status: 'failing' } }),
  )
}

const ConfigSchema = Fields(
  {
    file: Nullable<string>({
      type: 'string',
      description: 'The absolute path of the configuration file; null without one.',
      examples: ['/etc/platform/platform.toml'],
    }),
    items: Type.Array(
      Fields({
        key: Type.String({ examples: ['auth.token_ttl'] }),
        value: Type.String({ description: 'Secrets are `**redacted**`.', examples: ['15m'] }),
        source: Type.String({
          description: 'Where the value comes from.',
          examples: ['default', 'environment TOKEN_TTL'],
        }),
        description: Nullable<string>({
          type: 'string',
          description: 'What the setting is for; null for a command or a template of the configuration.',
          examples: ['How long a token of a sign-in is valid.'],
        }),
      }),
    ),
  },
  { $id: 'Config' },
)

/** The settings of this process, as `platform config` prints them (docs/specification.md, Configuration). */
export function configRoute({ settings, file }: Pick<LoadedConfig, 'settings' | 'file'>): Route {
  const items = describeSettings(settings).map(({ key, text: value, source }) => ({
    key,
    value,
    source,
    description: SETTING_TABLE[key]?.description ?? null,
  }))
  return route({
    method: 'GET',
    path: '/config',
    operation: 'getConfig',
    summary: 'The settings in effect',
    description: 'Of the process that answers, as `platform config` prints them; secrets are masked.',
    access: ['admin'],
    answers: { 200: { description: 'Every setting.', schema: ConfigSchema } },
    read: () => ok({ file: file ?? null, items }),
  })
}
