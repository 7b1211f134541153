import { Type } from 'typebox'
import { OLDEST_FIRST } from '../../../kernel/page.ts'
import { bodyWriter, encoderOf } from '../../../wire/codec.ts'
import { csvLine } from '../../../wire/csv.ts'
import { encodeCursor } from '../../../wire/cursor.ts'
import { encodePage, PageOf, PageQuery, parsePage, TimedQuery } from '../../../wire/page.ts'
import { preferredOffer } from '../../../wire/preferred-offer.ts'
import { ok, type Route, routeOf } from '../../../wire/route.ts'
import { Fields, IdParams, Nullable, NullableTimestamp, OneOf, Timestamp } from '../../../wire/schemas.ts'
import { PAYMENT_ERRORS } from '../routes.ts'
import { Channel } from '../schemas.ts'
import { DIFFERENCE_KINDS, RECONCILIATION_STATUSES, type Difference } from './model.ts'
import type { Reconciliations } from './service.ts'

const route = routeOf('Payments')

/** Who may read what was compared, and its events. */
export const RECONCILIATION_READERS = ['admin', 'auditor'] as const
const ADMIN = ['admin'] as const
const TABLES = { 'text/csv': differencesCsv, 'text/markdown': differencesMarkdown } as const
const { channel_not_found, reconciliation_not_found, reconciliation_running } = PAYMENT_ERRORS
const FORMATS = ['application/json', 'text/csv', 'text/markdown'] as const

const BookDate = Type.String({
  pattern: '^\\d{4}-\\d{2}-\\d{2}$',
  maxLength: 10,
  description: 'A day in the time zone of the books.',
  examples: ['2026-01-31'],
})

export const ReconciliationSchema = Fields(
  {
    id: Type.String({ description: 'UUIDv7 (RFC 9562).' }),
    channel: Type.String(),
    date: BookDate,
    status: OneOf(RECONCILIATION_STATUSES),
    matched: Type.Integer({ description: 'Rows of the bill that are the same here.' }),
    differences: Type.Integer(),
    error: Nullable<string>({ type: 'string', description: '`no_bill`, or a sentence.' }),
    created_at: Timestamp,
    finished_at: NullableTimestamp,
    requested_by: Type.String(),
  },
  { $id: 'Reconciliation' },
)

const NewReconciliationBody = Fields({ channel: Channel, date: BookDate })

const NullableText = Nullable<string>({ type: 'string' })
const NullableCents = Nullable<number>({ type: 'integer' })

const DifferenceSchema = Fields(
  {
    kind: OneOf(DIFFERENCE_KINDS),
    type: OneOf(['payment', 'refund']),
    number: Type.String(),
    payment_id: NullableText,
    here_status: NullableText,
    here_cents: NullableCents,
    there_status: NullableText,
    there_cents: NullableCents,
    provider_id: NullableText,
  },
  { $id: 'PaymentDifference' },
)

const DifferenceQuery = Fields({
  kind: Type.Optional(OneOf(DIFFERENCE_KINDS, 'Only differences of this kind.')),
  ...PageQuery,
})

export const encodeReconciliation = encoderOf(ReconciliationSchema)
const reconciliationText = bodyWriter(encodeReconciliation)
const encodeDifference = encoderOf(DifferenceSchema)

/** docs/specification.md, HTTP API */
export function reconciliationRoutes(reconciliations: Reconciliations): Route[] {
  return [
    route({
      method: 'POST',
      path: '/payments/reconciliations',
      operation: 'reconcilePayments',
      summary: 'Compare the payments of a day with the books of the provider',
      access: ADMIN,
      body: NewReconciliationBody,
      answers: { 202: { description: 'The reconciliation, running.', schema: ReconciliationSchema } },
      errors: { channel_not_found, reconciliation_running },
      audit: { kind: 'reconciliation' },
      change: async (tx, { body: { channel, date }, identity }) => {
        const row = await reconciliations.request(tx, channel, date, identity.id)
        return { status: 202, body: reconciliationText(row) }
      },
    }),
    route({
      method: 'GET',
      path: '/payments/reconciliations',
      operation: 'listReconciliations',
      summary: 'List reconciliations, newest first',
      access: RECONCILIATION_READERS,
      query: TimedQuery,
      answers: { 200: { description: 'A page of reconciliations.', schema: PageOf(ReconciliationSchema) } },
      read: async ({ query }) =>
        ok(encodePage(await reconciliations.list(parsePage(query)), encodeReconciliation)),
    }),
    route({
      method: 'GET',
      path: '/payments/reconciliations/:id',
      operation: 'getReconciliation',
      summary: 'Read one reconciliation',
      access: RECONCILIATION_READERS,
      params: IdParams,
      answers: { 200: { description: 'The reconciliation.', schema: ReconciliationSchema } },
      errors: { reconciliation_not_found },
      read: async ({ params }) => ok(reconciliationText(await reconciliations.get(params.id))),
    }),
    route({
      method: 'GET',
      path: '/payments/reconciliations/:id/differences',
      operation: 'listPaymentDifferences',
      summary: 'List the differences of a reconciliation, with both sides of each',
      description:
        'With `Accept: text/csv` or `text/markdown` the page is a table; `X-Next-Cursor` is then the cursor of the next one.',
      access: RECONCILIATION_READERS,
      params: IdParams,
      query: DifferenceQuery,
      answers: { 200: { description: 'A page of differences.', schema: PageOf(DifferenceSchema) } },
      errors: { reconciliation_not_found },
      read: async ({ params, query, headers }) => {
        const filter = { reconciliationId: params.id, kind: query.kind }
        const page = await reconciliations.differences(filter, parsePage(query, OLDEST_FIRST))
        const type = preferredOffer(headers.accept, FORMATS) ?? 'application/json'
        if (type === 'application/json') return ok(encodePage(page, encodeDifference))
        const next = page.next && { 'x-next-cursor': encodeCursor(page.next) }
        return ok(TABLES[type](page.items), { 'content-type': `${type}; charset=utf-8`, ...next })
      },
    }),
  ]
}

const TITLES = Object.keys(DifferenceSchema.properties)

function cellsOf(difference: Difference): (string | number | null)[] {
  return Object.values(JSON.parse(encodeDifference(difference)) as Record<string, string | number | null>)
}

/** Differences as CSV (RFC 4180). */
export function differencesCsv(differences: readonly Difference[]): string {
  return [TITLES, ...differences.map(cellsOf)].map(csvLine).join('')
}

/** Differences as a table of Markdown (GitHub Flavored Markdown, section 4.10). */
export function differencesMarkdown(differences: readonly Difference[]): string {
  const rowOf = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  const rows = differences.map((difference) => rowOf(cellsOf(difference).map(markdownCell)))
  return [rowOf(TITLES), rowOf(TITLES.map(() => '---')), ...rows, ''].join('\n')
}

/** The value as text of a Markdown table: it cannot add mark-up or links, nor end the cell. */
function markdownCell(value: string | number | null): string {
  return String(value ?? '')
    .replaceAll(/[\r\n]+/g, ' ')
    .replaceAll(/[\\`*_{}[\]()#+!|<>&~:.@-]/g, String.raw`\$&`)
}
