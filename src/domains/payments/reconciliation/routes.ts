import { JsonText } from '../../../kernel/text.ts'
import { OLDEST_FIRST } from '../../../kernel/page.ts'
import { encodeCursor } from '../../../wire/cursor.ts'
import type { ErrorCodes } from '../../../wire/error-codes.ts'
import { encodePage, parsePage } from '../../../wire/page.ts'
import { preferredOffer } from '../../../wire/preferred-offer.ts'
import { ok, type Route, routeOf } from '../../../wire/route.ts'
import { IdParams } from '../../../wire/schemas.ts'
import { TimedQuery } from '../schemas.ts'
import {
  DifferencePage,
  DifferenceQuery,
  encodeDifference,
  encodeReconciliation,
  NewReconciliationBody,
  ReconciliationPage,
  ReconciliationSchema,
} from './schemas.ts'
import type { Reconciliations } from './service.ts'
import { csvLine } from '../../../wire/csv.ts'
import type { Difference } from './model.ts'

const route = routeOf('Payments')

/** Who may read what was compared, and its events. */
export const RECONCILIATION_READERS = ['admin', 'auditor'] as const
const ADMIN = ['admin'] as const
const TABLES = { 'text/csv': differencesCsv, 'text/markdown': differencesMarkdown } as const
const FORMATS = ['application/json', 'text/csv', 'text/markdown'] as const

/** docs/specification.md, HTTP API */
export function reconciliationRoutes(
  reconciliations: Reconciliations,
  errors: { readonly missing: ErrorCodes; readonly request: ErrorCodes },
): Route[] {
  return [
    route({
      method: 'POST',
      path: '/payments/reconciliations',
      operation: 'reconcilePayments',
      summary: 'Compare the payments of a day with the books of the provider',
      access: ADMIN,
      body: NewReconciliationBody,
      answers: { 202: { description: 'The reconciliation, running.', schema: ReconciliationSchema } },
      errors: errors.request,
      audit: { kind: 'reconciliation' },
      change: async (tx, { body: { channel, date }, identity }) => {
        const row = await reconciliations.request(tx, channel, date, identity.id)
        return { status: 202, body: new JsonText(encodeReconciliation(row)) }
      },
    }),
    route({
      method: 'GET',
      path: '/payments/reconciliations',
      operation: 'listReconciliations',
      summary: 'List reconciliations, newest first',
      access: RECONCILIATION_READERS,
      query: TimedQuery,
      answers: { 200: { description: 'A page of reconciliations.', schema: ReconciliationPage } },
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
      errors: errors.missing,
      read: async ({ params }) =>
        ok(new JsonText(encodeReconciliation(await reconciliations.get(params.id)))),
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
      answers: { 200: { description: 'A page of differences.', schema: DifferencePage } },
      errors: errors.missing,
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

const COLUMNS = [
  'kind',
  'type',
  'number',
  'paymentId',
  'hereStatus',
  'hereCents',
  'thereStatus',
  'thereCents',
  'providerId',
] as const satisfies readonly (keyof Difference)[]

const TITLES =
  'kind,type,number,payment_id,here_status,here_cents,there_status,there_cents,provider_id'.split(',')

/** Differences as CSV (RFC 4180). */
export function differencesCsv(differences: readonly Difference[]): string {
  const lines = differences.map((difference) => csvLine(COLUMNS.map((column) => difference[column])))
  return [csvLine(TITLES), ...lines].join('')
}

/** Differences as a table of Markdown (GitHub Flavored Markdown, section 4.10). */
export function differencesMarkdown(differences: readonly Difference[]): string {
  const rowOf = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  const rows = differences.map((difference) =>
    rowOf(COLUMNS.map((column) => markdownCell(difference[column]))),
  )
  return [rowOf(TITLES), rowOf(TITLES.map(() => '---')), ...rows, ''].join('\n')
}

/** The value as text of a Markdown table: it cannot add mark-up or links, nor end the cell. */
function markdownCell(value: string | number | null): string {
  return String(value ?? '')
    .replaceAll(/[\r\n]+/g, ' ')
    .replaceAll(/[\\`*_{}[\]()#+!|<>&~:.@-]/g, String.raw`\$&`)
}
