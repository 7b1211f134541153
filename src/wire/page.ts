import { Type, type Static, type TSchema } from 'typebox'
import { invalidField } from '../kernel/errors.ts'
import type { Page, PageRequest } from '../kernel/page.ts'
import { JsonText } from '../kernel/json-text.ts'
import { parseTime, type Encode } from './codec.ts'
import { Fields, GivenTime, Nullable } from './schemas.ts'

// docs/specification.md, HTTP API
const DEFAULT_LIMIT = 100
const MAXIMUM_LIMIT = 1_000

/** The query of every list. */
export const PageQuery = {
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: MAXIMUM_LIMIT,
      default: DEFAULT_LIMIT,
      description: 'Items in one page.',
    }),
  ),
  cursor: Type.Optional(
    Type.String({ minLength: 1, maxLength: 128, description: '`next_cursor` of the page before; opaque.' }),
  ),
}

/** The query of a list that can be restricted to a time range. */
export const TimedPageQuery = {
  ...PageQuery,
  created_from: Type.Optional(
    GivenTime('Only items created at this time or later. RFC 3339 with any offset; write `+` as `%2B`.'),
  ),
  created_to: Type.Optional(
    GivenTime('Only items created before this time. RFC 3339 with any offset; write `+` as `%2B`.'),
  ),
}

/** A page of items on the wire, newest first. */
export function PageOf<T extends TSchema>(item: T) {
  return Fields({
    items: Type.Array(item),
    next_cursor: Nullable<string>({ type: 'string', description: 'Null on the last page.' }),
  })
}

const PageQuerySchema = Fields(TimedPageQuery)

/** Throws `validation_failed` for a cursor that this program did not make, and for a time that does not exist. */
export function parsePage(query: Static<typeof PageQuerySchema>): PageRequest {
  return {
    limit: query.limit ?? DEFAULT_LIMIT,
    before: query.cursor === undefined ? Number.MAX_SAFE_INTEGER : parseCursor(query.cursor),
    ...(query.created_from !== undefined && { createdFrom: parseTime('created_from', query.created_from) }),
    ...(query.created_to !== undefined && { createdTo: parseTime('created_to', query.created_to) }),
  }
}

/** A page as JSON, its items written by the encoder. */
export function encodePage<T>({ items, next }: Page<T>, encode: Encode<T>): JsonText {
  const cursor = next === null ? 'null' : `"${toCursor(next)}"`
  return new JsonText(`{"items":[${items.map(encode).join(',')}],"next_cursor":${cursor}}`)
}

function toCursor(position: number): string {
  return Buffer.from(`p${position}`).toString('base64url')
}

function parseCursor(cursor: string): number {
  const match = /^p(\d{1,16})$/.exec(Buffer.from(cursor, 'base64url').toString('latin1'))
  const position = Number(match?.[1])
  if (!Number.isSafeInteger(position))
    throw invalidField('cursor', 'must be the next_cursor of an earlier page')
  return position
}
