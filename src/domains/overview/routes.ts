import { Type, type TObject, type TProperties } from 'typebox'
import { ROLES } from '../../kernel/identity.ts'
import { JsonText } from '../../kernel/text.ts'
import { SECOND } from '../../kernel/time.ts'
import { encoderOf } from '../../wire/codec.ts'
import { ok, type Route, routeOf } from '../../wire/route.ts'
import { Fields, Id, Nullable, NullableTimestamp, OneOf, Timestamp } from '../../wire/schemas.ts'
import { DEFAULT_HOURS, MAX_HOURS, STEP_MS } from './model.ts'
import { NIGHT_STATUSES } from './parts.ts'
import type { Overview } from './service.ts'

const route = routeOf('Overview')

/** docs/specification.md, Overview */
export function overviewRoutes(overview: Overview): Route[] {
  return [
    route({
      method: 'GET',
      path: '/overview',
      operation: 'getOverview',
      summary: 'The state of the whole platform',
      description: 'Each part needs a role of the list of its objects, and is null without.',
      access: ROLES,
      answers: { 200: { description: 'The state now.', schema: OverviewSchema } },
      read: async ({ identity }) => ok(new JsonText(encodeOverview(await overview.read(identity)))),
    }),
    route({
      method: 'GET',
      path: '/overview/series',
      operation: 'getOverviewSeries',
      summary: 'Orders, alerts and sessions of the last hours, in steps of five minutes',
      description:
        'A value that no worker has recorded is null, and so is a value whose list the caller may not read.',
      access: ROLES,
      query: SeriesQuery,
      answers: { 200: { description: 'The steps.', schema: SeriesSchema } },
      read: async ({ query: { hours = DEFAULT_HOURS }, identity }) =>
        ok(new JsonText(encodeSeries(await overview.series(hours, identity)))),
    }),
  ]
}

const Count = (description?: string) => Type.Integer({ minimum: 0, ...(description && { description }) })
const MaybeCount = (description: string) => Nullable<number>({ type: 'integer', minimum: 0, description })

function orNull(schema: TObject) {
  return Nullable<object>({ ...schema })
}

/** A part of the overview. */
function Part(properties: TProperties, description: string) {
  return orNull(Fields(properties, { description: `${description} Null without a role of their list.` }))
}

const Orders = Part(
  { pending: Count(), paid: Count(), shipped: Count(), completed: Count(), expired: Count() },
  'All orders, by status.',
)

const Messages = Part(
  {
    pending: Count('Messages that wait for the bus, counted up to 100,000.'),
    oldest_pending_at: NullableTimestamp,
    dead: Count('Messages that the bus has refused, counted up to 100,000.'),
    oldest_dead_at: NullableTimestamp,
  },
  'The messages that are not delivered.',
)

const Alerts = Part(
  { CRITICAL: Count(), HIGH: Count(), ERROR: Count(), WARNING: Count(), INFO: Count() },
  'The firing alerts, by severity; each weight is counted up to 10,000.',
)

const Heartbeats = Part(
  {
    late: Count('How many heartbeats are missed now.'),
    items: Type.Array(
      Fields({
        name: Type.String({ examples: ['nightly-backup'] }),
        last_beat_at: NullableTimestamp,
        missed_at: NullableTimestamp,
      }),
      { description: 'The longest missed first; at most 10.' },
    ),
  },
  'The missed heartbeats.',
)

const Tickets = Part(
  { critical: Count(), high: Count(), medium: Count(), low: Count(), info: Count() },
  'The tickets that are not closed, by level.',
)

const Pool = Part(
  {
    cidr: Type.String({ examples: ['100.64.0.0/16'] }),
    size: Count(),
    used: Count(),
    cooling: Count(),
    free: Count(),
  },
  'The address pool, as `GET /vpn/pool` counts it.',
)

const Certificates = Part(
  {
    expiring: Count('How many certificates in use end within 30 days.'),
    expired: Count('How many certificates in use have ended.'),
    items: Type.Array(
      Fields({
        id: Id,
        name: Type.String(),
        not_after: Timestamp,
        days_left: Type.Integer(),
      }),
      { description: 'The expiring ones, the soonest end first; at most 10.' },
    ),
  },
  'The certificates that end within 30 days.',
)

const DataBackups = Part(
  {
    last: orNull(
      Fields(
        {
          id: Id,
          status: OneOf(['running', 'completed', 'failed']),
          size_bytes: MaybeCount('Of the file.'),
          created_at: Timestamp,
          finished_at: NullableTimestamp,
          verified_at: NullableTimestamp,
          error: Nullable<string>({ type: 'string' }),
        },
        { description: 'The last one, whatever its status; null before the first.' },
      ),
    ),
    backup_every_seconds: MaybeCount('The setting `data.backup_every` of the api; null if it is not set.'),
  },
  'The last data backup.',
)

const NightPart = Part(
  {
    last: orNull(
      Fields(
        {
          status: OneOf(NIGHT_STATUSES, '`lost`: the window has ended without a backup.'),
          started_at: NullableTimestamp,
          succeeded_at: Nullable<string>({
            ...Timestamp,
            description: 'When the last backup that was verified succeeded.',
          }),
          failed_at: Nullable<string>({ ...Timestamp, description: 'Null unless the last run has failed.' }),
          alert_id: Nullable<string>({
            type: 'string',
            description: 'The alert that describes the failure; null unless the last night has failed.',
          }),
        },
        { description: 'Null when no night was reported yet.' },
      ),
    ),
  },
  'The last nightly backup, as it has reported itself.',
)

const DrillPart = Part(
  {
    status: Nullable<string>({
      type: 'string',
      enum: ['waiting', 'ok', 'missed', null],
      description: 'The status of the heartbeat `backup-restore-drill`; null if there is no such heartbeat.',
    }),
    last_passed_at: NullableTimestamp,
    due_at: Nullable<string>({ ...Timestamp, description: 'When the next drill has to have passed.' }),
  },
  'The last restore drill.',
)

const Payments = Part(
  {
    channels: Type.Array(Type.String(), { description: 'Through which payments are taken.' }),
    attention: Count('How many payments need a person, counted up to 1,000.'),
    oldest_at: Nullable<string>({ ...Timestamp, description: 'When the oldest of them was created.' }),
  },
  'The payments that need a person; also null without a channel.',
)

const Executions = Part(
  {
    awaiting_approval: Count('Of the executions that the caller may read, counted up to 1,000.'),
    oldest_at: NullableTimestamp,
  },
  'The executions of commands that wait for an approval.',
)

const OverviewSchema = Fields(
  {
    at: Timestamp,
    orders: Orders,
    messages: Messages,
    alerts: Alerts,
    heartbeats: Heartbeats,
    tickets: Tickets,
    sessions: Part({ open: Count() }, 'The live sessions of all gateways.'),
    pool: Pool,
    certificates: Certificates,
    data_backups: DataBackups,
    night: NightPart,
    drill: DrillPart,
    executions: Executions,
    payments: Payments,
  },
  { $id: 'Overview' },
)

const SeriesQuery = Fields({
  hours: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: MAX_HOURS,
      default: DEFAULT_HOURS,
      description: 'How far back the series begins.',
    }),
  ),
})

const StepSchema = Fields({
  at: Timestamp,
  created: MaybeCount('Orders that were created in the step.'),
  paid: MaybeCount('Orders that were paid in the step.'),
  shipped: MaybeCount('Orders that were shipped in the step.'),
  completed: MaybeCount('Orders that were completed in the step.'),
  expired: MaybeCount('Orders that expired in the step.'),
  firing_alerts: MaybeCount('Alerts that fired at the beginning of the step.'),
  open_sessions: MaybeCount('Sessions that were live at the beginning of the step.'),
})

const SeriesSchema = Fields(
  {
    from: Timestamp,
    to: { ...Timestamp, description: 'The end of the last step, which is in progress.' },
    step_seconds: Type.Integer({ examples: [300] }),
    items: Type.Array(StepSchema, {
      description:
        'One for each step, oldest first. A value is null if no worker has recorded it, and without a role of its list.',
    }),
  },
  { $id: 'OverviewSeries' },
)

const encodeOverview = encoderOf(OverviewSchema)

const encodeSeries = encoderOf(SeriesSchema, { step_seconds: () => STEP_MS / SECOND })
