import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Type } from 'typebox'
import { csvLine } from '../../wire/csv.ts'
import { ANONYMOUS, ok, type RouteRequest, routeOf } from '../../wire/route.ts'
import type { StreamEnd, StreamOutput } from '../../wire/stream.ts'
import { PageOf, PageQuery } from '../../wire/page.ts'
import { Fields } from '../../wire/schemas.ts'
import { csvListOf, wantsCsv } from './csv-response.ts'

const route = routeOf('Things')

const ROWS = 1_234

/** A list of numbers; its pages are counted. */
function numbers(failsAt = Infinity) {
  const limits: number[] = []
  const list = route({
    method: 'GET',
    path: '/things/:id/numbers',
    operation: 'listNumbers',
    summary: 'List numbers',
    access: 'public',
    query: Fields({ above: Type.Optional(Type.Integer()), ...PageQuery }),
    answers: {
      200: { description: 'A page.', schema: PageOf(Fields({ n: Type.Integer(), text: Type.String() })) },
    },
    read: ({ query: { above = 0, limit = 100, cursor } }) => {
      const from = Number(cursor ?? above)
      if (from >= failsAt) throw new Error('the database is away')
      limits.push(limit)
      const items = Array.from({ length: Math.min(limit, ROWS - from) }, (_, at) => ({
        n: from + at,
        text: '=1',
      }))
      const next = from + items.length
      return ok({ items, next_cursor: next < ROWS ? String(next) : null })
    },
  })
  const csv = csvListOf(list)
  if (!csv) throw new Error('It is a list.')
  return { csv, limits }
}

class MemoryOutput implements StreamOutput {
  readonly unreadBytes = 0
  readonly over = new Promise<StreamEnd>(() => undefined)
  isOver = false
  text = ''
  drains = 0

  write(chunk: Uint8Array | string): void {
    this.text += String(chunk)
  }

  drained(): Promise<void> {
    this.drains++
    return Promise.resolve()
  }

  cut(): void {
    this.isOver = true
  }
}

function requestOf(query: object): RouteRequest<unknown, unknown, unknown> {
  const request = { params: {}, query, body: undefined, identity: ANONYMOUS, headers: {} }
  return { ...request, remoteAddress: '192.0.2.1', requestId: 'r' }
}

async function csvOf({ csv }: ReturnType<typeof numbers>, query: object, output = new MemoryOutput()) {
  const table = await csv.read(requestOf(query))
  if (!('write' in table)) throw new Error('It has pages.')
  await table.write(output)
  return output.text.split('\r\n')
}

test('a list as CSV has all pages of its filters, a part at a time', async () => {
  const list = numbers()
  const output = new MemoryOutput()
  const lines = await csvOf(list, { above: 34 }, output)
  assert.deepEqual([lines[0], lines[1], lines.at(-2), lines.at(-1)], ['n,text', "34,'=1", "1233,'=1", ''])
  assert.deepEqual([lines.length, output.drains], [1_202, 6])
  assert.deepEqual(new Set(list.limits), new Set([200]))
  assert.equal(list.csv.name, 'things-numbers.csv')
})

test('a limit counts the rows of the table, not of a page', async () => {
  const list = numbers()
  assert.equal((await csvOf(list, { limit: 450 })).length, 452)
  assert.deepEqual(list.limits, [200, 200, 50])
})

test('a list that cannot be read to its end is cut off; one that cannot be begun is refused', async () => {
  const output = new MemoryOutput()
  await assert.rejects(csvOf(numbers(400), {}, output), /the database is away/)
  assert.equal(output.isOver, true)
  await assert.rejects(numbers(0).csv.read(requestOf({})), /the database is away/)
})

test('pages without a cursor are no table: only their reader can follow them', () => {
  const changes = route({
    method: 'GET',
    path: '/things/changes',
    operation: 'listChangedThings',
    summary: 'List changes',
    access: 'public',
    query: Fields({ since: Type.Optional(Type.Integer()), limit: Type.Optional(Type.Integer()) }),
    answers: {
      200: {
        description: 'A page.',
        schema: Fields({ items: Type.Array(Fields({ n: Type.Integer() })), more: Type.Boolean() }),
      },
    },
    read: () => ok({ items: [], more: true }),
  })
  assert.equal(csvListOf(changes), undefined)
})

test('an operation with a table of its own has its pages as they were asked for', async () => {
  const own = route({
    method: 'GET',
    path: '/things/differences',
    operation: 'listThingDifferences',
    summary: 'List differences',
    access: 'public',
    query: Fields(PageQuery),
    answers: { 200: { description: 'A page.', schema: PageOf(Fields({ n: Type.Integer() })) } },
    read: ({ query: { limit = 100 } }) => ok(`rows: ${limit}`, { 'content-type': 'text/plain' }),
  })
  const bodies = [{}, { limit: 450 }].map(async (query) => {
    const answer = await csvListOf(own)?.read(requestOf(query))
    return answer && 'body' in answer ? answer.body : undefined
  })
  assert.deepEqual(await Promise.all(bodies), ['rows: 100', 'rows: 450'])
})

test('nothing is read for a client that has gone', async () => {
  const list = numbers()
  const output = new MemoryOutput()
  output.isOver = true
  await csvOf(list, {}, output)
  assert.deepEqual(list.limits, [200])
})

test('a text that a spreadsheet would run stays text; a negative number stays a number', () => {
  const cells = ['=1+1', '+1', '-1', '@a', '\tb', '\rc', -1, 'a,"b"', 'two\nlines', null, undefined, true]
  assert.equal(
    csvLine([...cells, { a: '=1' }, ['x']]),
    `'=1+1,'+1,'-1,'@a,'\tb,"'\rc",-1,"a,""b""","two\nlines",,,true,"{""a"":""=1""}","[""x""]"\r\n`,
  )
})

test('CSV is for a client that would rather have it than JSON', () => {
  const accepts = ['text/csv', 'text/csv, */*;q=0.9', 'text/csv;q=0.9, */*', 'text/csv, application/json', '']
  assert.deepEqual(
    accepts.map((accept) => wantsCsv({ accept })),
    [true, true, false, false, false],
  )
})
