import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ApiResult } from '../../api/operations.ts'
import { ListModel, type ListPage } from './list-model.ts'
import type { ListQuery } from './list-query.ts'

interface Item {
  readonly id: string
  readonly status: string
}

const open = (id: string): Item => ({ id, status: 'open' })
const UNREACHABLE = { status: 0, code: 'unreachable', message: '', details: [], retryAfterSeconds: null }

/** A list of a server that a test changes; `tick` does what waits. */
function listOf(items: Item[]) {
  const server = { items, isAway: false, reads: [] as ListQuery[] }
  const waits: number[] = []
  let waiting: (() => void)[] = []
  const model = new ListModel<Item>({
    read: async (query): Promise<ApiResult<ListPage<Item>>> => {
      server.reads.push(query)
      if (server.isAway) return { ok: false, failure: UNREACHABLE }
      return { ok: true, value: { items: [...server.items], next_cursor: null }, etag: null }
    },
    keyOf: ({ id }) => id,
    later(run, ms) {
      waits.push(ms)
      waiting.push(run)
    },
  })
  const tick = async () => {
    const due = waiting
    waiting = []
    for (const run of due) run()
    await Promise.resolve()
    await Promise.resolve()
  }
  const ids = () => model.page.value?.items.map(({ id, status }) => `${id} ${status}`)
  return { server, model, tick, ids, waits }
}

test('a changed item is drawn in its row, without another read', async () => {
  const { server, model, tick, ids } = listOf([open('a'), open('b')])
  await model.load({})
  model.take({ id: 'b', status: 'closed' })
  await tick()
  assert.deepEqual(ids(), ['a open', 'b closed'])
  assert.deepEqual([...model.changed.value], ['b'])
  await tick()
  assert.equal(server.reads.length, 1)
})

test('a thousand new items are one more read of the first page', async () => {
  const { server, model, tick } = listOf([open('a')])
  await model.load({})
  for (let index = 0; index < 1_000; index++) model.take(open(`new-${index}`))
  await tick()
  await tick()
  assert.equal(server.reads.length, 2)
})

test('a page whose reading an event has outrun is read again', async () => {
  const { server, model, tick, ids } = listOf([open('a')])
  const loaded = model.load({})
  model.take({ id: 'a', status: 'closed' })
  await loaded
  assert.deepEqual(ids(), ['a open'])
  server.items = [{ id: 'a', status: 'closed' }]
  await tick()
  await tick()
  assert.equal(server.reads.length, 2)
  assert.deepEqual(ids(), ['a closed'])
})

test('the first of many changes is shown soon, the others no more often than every two seconds', async () => {
  const { model, tick, waits } = listOf([open('a')])
  await model.load({})
  const waitOf = () => {
    waits.length = 0
    model.refreshSoon()
    return waits[0]
  }
  assert.equal(waitOf(), 200)
  assert.equal(waitOf(), undefined, 'it is due already')
  await tick()
  assert.equal(waitOf(), 2_000)
  await tick()
  await tick()
  assert.equal(waitOf(), 200, 'the list was calm for two seconds')
})

test('a later page has no new items', async () => {
  const { server, model, tick } = listOf([open('a')])
  await model.load({ cursor: 'abc' })
  model.take(open('new'))
  await tick()
  await tick()
  assert.equal(server.reads.length, 1)
})

test('with a filter a changed item may be one too many, so the page is read again', async () => {
  const { server, model, tick, ids } = listOf([open('a')])
  await model.load({ status: 'open' })
  server.items = []
  model.take({ id: 'a', status: 'closed' })
  await tick()
  await tick()
  assert.deepEqual(ids(), [])
})

test('a list that cannot be read again keeps its rows, with the failure', async () => {
  const { server, model, ids } = listOf([open('a')])
  await model.load({})
  server.isAway = true
  await model.refresh()
  assert.deepEqual(ids(), ['a open'])
  assert.equal(model.failure.value?.code, 'unreachable')
})

test('rows of other filters do not stay when theirs cannot be read', async () => {
  const { server, model, ids } = listOf([open('a')])
  await model.load({})
  server.isAway = true
  await model.load({ status: 'closed' })
  assert.equal(ids(), undefined)
  assert.equal(model.failure.value?.code, 'unreachable')
})

test('a quiet reading shows what has changed, and nothing else', async () => {
  const { server, model, ids } = listOf([open('a')])
  await model.load({})
  server.items = [{ id: 'a', status: 'closed' }]
  const reading = model.refreshInBackground()
  assert.equal(model.isLoading.value, false)
  await reading
  assert.deepEqual(ids(), ['a closed'])
})
