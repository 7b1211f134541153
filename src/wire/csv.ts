import type { TSchema } from 'typebox'
import type { Route } from './route.ts'

/** Comma-separated values (RFC 4180). */
export const CSV = 'text/csv'

/** One line of CSV; an object or a list in a cell is JSON. */
export function csvLine(cells: readonly unknown[]): string {
  return `${cells.map(cellOf).join(',')}\r\n`
}

// A spreadsheet would run a text that begins like this as a formula (OWASP, CSV injection).
const FORMULA = /^[=+\-@\t\r]/

function cellOf(value: unknown): string {
  if (value === null || value === undefined) return ''
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  const safe = typeof value === 'string' && FORMULA.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

interface ListSchema {
  readonly properties?: {
    readonly items?: { readonly items?: { readonly properties?: object } }
    readonly next_cursor?: object
  }
}

/**
 * The fields of the items that an operation lists, in the order of their schema; undefined if it lists none, or lists them in
 * pages that have no cursor.
 */
export function listFields(route: Route): readonly string[] | undefined {
  if (!('read' in route) || route.method !== 'GET') return undefined
  const { properties = {} }: TSchema & ListSchema = route.answers[200]?.schema ?? {}
  const query: TSchema & { readonly properties?: object } = route.query ?? {}
  if ('limit' in (query.properties ?? {}) && !properties.next_cursor) return undefined
  const fields = properties.items?.items?.properties
  return fields && Object.keys(fields)
}
