import assert from 'node:assert/strict'
import { test } from 'node:test'
import { answerJson, resetConnection } from '../../../test/support/scripted-api.ts'
import { clientWorld } from '../../../test/support/typed-client.ts'

const PAGES = [
  answerJson(200, { items: [{ order_id: 'c' }, { order_id: 'b' }], next_cursor: 'after-b' }),
  answerJson(200, { items: [{ order_id: 'a' }], next_cursor: null }),
]

test('a list has the items of all pages, in the same query', async () => {
  await using world = await clientWorld(PAGES)
  const ids: string[] = []
  for await (const order of world.client.list('listOrders', { query: { status: 'paid', limit: 2 } })) {
    ids.push(order.order_id)
  }
  assert.deepEqual(ids, ['c', 'b', 'a'])
  assert.deepEqual(
    world.api.requests.map(({ url }) => url),
    ['/orders?status=paid&limit=2', '/orders?status=paid&limit=2&cursor=after-b'],
  )
})

test('a page that breaks is requested again, and no item is lost or repeated', async () => {
  const [first, second] = PAGES
  assert.ok(first && second)
  await using world = await clientWorld([first, resetConnection, second])
  const items = await Array.fromAsync(world.client.list('listOrders'))
  assert.deepEqual(
    items.map(({ order_id }) => order_id),
    ['c', 'b', 'a'],
  )
})

test('pages are requested only when the loop gets there, from a cursor of the caller', async () => {
  await using world = await clientWorld(PAGES)
  for await (const { next_cursor } of world.client.pages('listOrders', { query: { cursor: 'mine' } })) {
    assert.equal(next_cursor, 'after-b')
    break
  }
  assert.deepEqual(
    world.api.requests.map(({ url }) => url),
    ['/orders?cursor=mine'],
  )
})
