import type { Lifecycle } from '../../kernel/process.ts'
import { Fields, OneOf } from '../../wire/schemas.ts'
import { ok, route, type Answer, type Route } from '../../wire/route.ts'

export interface ProbesOptions {
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

const COMMON = { method: 'GET', tag: 'Operations', access: 'public', isProbe: true } as const

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
