import { Type } from 'typebox'
import { ErrorBody, OneOf } from '../../../wire/schemas.ts'

// A larger request would hold the database for too long. Prometheus sends at most 256 alerts in one request.
const ALERT_LIMIT = 1_000

// The alerts have no schema here: the server refuses a request as a whole, and one wrong alert must not refuse the others.
const Alerts = {
  type: 'array',
  maxItems: ALERT_LIMIT,
  description:
    'Each has `labels` (texts by name, at least one with a value), and optionally `annotations` (texts by name), ' +
    '`startsAt` and `endsAt` (RFC 3339). Unknown keys are ignored.',
}

const LABELS = { alertname: 'DiskFull', instance: '192.0.2.10:9100', severity: 'critical' }

/** What Prometheus sends to an Alertmanager. */
export const PrometheusBody = Type.Unsafe<readonly unknown[]>({
  ...Alerts,
  examples: [[{ labels: LABELS, annotations: { summary: 'The disk is full' } }]],
})

/** What an Alertmanager sends to a webhook. */
export const NotificationBody = Type.Object(
  {
    version: Type.Optional(OneOf(['4'], 'Of the format.')),
    receiver: Type.Optional(Type.String({ description: 'With `groupKey` and `externalURL`: the group.' })),
    groupKey: Type.Optional(Type.String({ description: 'While the group is heard of, its alerts fire.' })),
    truncatedAlerts: Type.Optional(
      Type.Integer({ minimum: 0, description: 'How many alerts of the group were left out.' }),
    ),
    externalURL: Type.Optional(Type.String({ description: 'The address of the Alertmanager.' })),
    alerts: Type.Unsafe<readonly unknown[]>({
      ...Alerts,
      examples: [[{ status: 'firing', labels: LABELS }]],
    }),
  },
  { description: 'The JSON of a webhook of version 4. Unknown keys are ignored.' },
)

/** An Alertmanager answers with a text if some of the alerts are wrong. */
export const PrometheusFault = Type.Unsafe<unknown>({
  anyOf: [
    ErrorBody,
    { type: 'string', description: 'What is wrong with some alerts; the others were taken.' },
  ],
})
