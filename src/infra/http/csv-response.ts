import type { IncomingHttpHeaders } from 'node:http'
import type { TSchema } from 'typebox'
import { CSV, csvLine, listFields } from '../../wire/csv.ts'
import {
  bodyOf,
  isChange,
  isStream,
  type Answer,
  type ReadRoute,
  type Route,
  type RouteRequest,
} from '../../wire/route.ts'
import { preferredOffer } from '../../wire/preferred-offer.ts'
import type { StreamBody, StreamOutput } from '../../wire/stream.ts'

// Small enough to be encoded between two other requests, and a page of large items ends earlier.
const PART = 200

type AnyRead = ReadRoute<TSchema, TSchema, TSchema>
type AnyRequest = RouteRequest<unknown, unknown, unknown>

interface ListAnswer {
  readonly items: readonly Readonly<Record<string, unknown>>[]
  readonly next_cursor?: string | null
}

/** A list as one table: the body of its response, and the name of the file that a browser saves. */
export interface CsvList {
  readonly name: string
  /** The first page is read before the response begins, so that a wrong query is refused. An answer if the operation has a table of its own. */
  readonly read: (request: AnyRequest) => Promise<Table | Answer>
}

interface Table {
  readonly write: StreamBody
  /** The headers of the usual answer, such as the `ETag` of a tree. */
  readonly headers: Readonly<Record<string, string>>
}

/** How the operation answers with CSV; undefined if it does not list anything. */
export function csvListOf(route: Route): CsvList | undefined {
  const fields = listFields(route)
  if (!fields || isChange(route) || isStream(route)) return undefined
  const names = route.path.split('/').filter((part) => part !== '' && !part.startsWith(':'))
  return { name: `${names.join('-')}.csv`, read: (request) => readCsv(route, fields, request) }
}

/** Whether a client would rather have CSV than the usual answer. */
export function wantsCsv({ accept }: IncomingHttpHeaders): boolean {
  return preferredOffer(accept, ['application/json', CSV]) === CSV
}

async function readCsv(
  route: AnyRead,
  fields: readonly string[],
  request: AnyRequest,
): Promise<Table | Answer> {
  const { limit = Infinity, ...query } = request.query as { readonly limit?: number }
  const schema: TSchema & { readonly properties?: object } = route.query ?? {}
  const hasPages = 'limit' in (schema.properties ?? {})
  const read = (left: number, cursor?: string) => {
    const page = hasPages && { limit: Math.min(PART, left), ...(cursor !== undefined && { cursor }) }
    return route.read({ ...request, query: { ...query, ...page } })
  }
  const first = await read(limit)
  const page = bodyOf(first)
  // The operation has a table of its own, with pages of its own size.
  if (!isList(page)) return route.read(request)
  const readNext = async (left: number, cursor: string) => bodyOf(await read(left, cursor)) as ListAnswer
  return {
    headers: first.headers ?? {},
    write: (output) => writePages(output, fields, page, limit, readNext),
  }
}

function isList(body: unknown): body is ListAnswer {
  return typeof body === 'object' && body !== null && 'items' in body
}

/** Each page is read when the client has taken the one before it. */
async function writePages(
  output: StreamOutput,
  fields: readonly string[],
  first: ListAnswer,
  limit: number,
  read: (left: number, cursor: string) => Promise<ListAnswer>,
): Promise<void> {
  output.write(csvLine(fields))
  let left = limit
  try {
    for (let page = first; ;) {
      output.write(page.items.map((item) => csvLine(fields.map((field) => item[field]))).join(''))
      left -= page.items.length
      await output.drained()
      if (output.isOver || !page.next_cursor || left <= 0) return
      page = await read(left, page.next_cursor)
    }
  } catch (error) {
    // Ended regularly, it would look like the whole list.
    output.cut()
    throw error
  }
}
