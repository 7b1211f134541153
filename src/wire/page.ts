import { Type, type Static, type TSchema } from 'typebox'
import { NEWEST_FIRST, type Page, type PageOrder, type PageRequest } from '../kernel/page.ts'
import { JsonText } from '../kernel/text.ts'
import { parseTime, type Encode } from './codec.ts'
import { decodeCursor, encodeCursor } from './cursor.ts'
import { Fields, GivenTime, Nullable } from './schemas.ts'

// docs/specification.md, HTTP API
const DEFAULT_LIMIT = 100
const MAXIMUM_LIMIT = 1_000
// A cursor contains a sort key of up to 100 characters, and some numbers.
const MAXIMUM_CURSOR = 1_024

/** The query of a list whose items have no time. */
export const PageQuery = {
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: MAXIMUM_LIMIT,
      default: DEFAULT_LIMIT,
      description: 'Items in one page, at most. A page of large items ends early.',
    }),
  ),
  cursor: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: MAXIMUM_CURSOR,
      description: '`next_cursor` of the page before; opaque.',
    }),
  ),
}

/** The query of every list. */
export const TimedPageQuery = {
  ...PageQuery,
  created_from: Type.Optional(
    GivenTime('Only items created at this time or later. RFC 3339 with any offset; write `+` as `%2B`.'),
  ),
  created_to: Type.Optional(
    GivenTime('Only items created before this time. RFC 3339 with any offset; write `+` as `%2B`.'),
  ),
}

/** A page of items on the wire. */
export function PageOf<T extends TSchema>(item: T) {
  return Fields({
    items: Type.Array(item),
    next_cursor: Nullable<string>({ type: 'string', description: 'Null on the last page.' }),
  })
}

/** The query of a list that has no filter. */
export const TimedQuery = Fields(TimedPageQuery)

/**
 * The page that a query asks for; a list with several orders passes the chosen one. Throws `validation_failed` for a
 * cursor that is not of this order, and for a time that does not exist.
 */
export function parsePage<Name extends string = 'seq'>(
  { limit = DEFAULT_LIMIT, cursor, created_from, created_to }: Static<typeof TimedQuery>,
  order?: PageOrder<Name>,
): PageRequest<Name> {
  return {
    limit,
    ...(order && { order }),
    ...(cursor !== undefined && { after: decodeCursor(cursor, order ?? NEWEST_FIRST) }),
    ...(created_from !== undefined && { createdFrom: parseTime('created_from', created_from) }),
    ...(created_to !== undefined && { createdTo: parseTime('created_to', created_to) }),
  }
}

/** A page as JSON, its items written by the encoder. */
export function encodePage<T>({ items, next }: Page<T>, encode: Encode<T>): JsonText {
  const cursor = next === null ? 'null' : `"${encodeCursor(next)}"`
  return new JsonText(`{"items":[${items.map(encode).join(',')}],"next_cursor":${cursor}}`)
}
