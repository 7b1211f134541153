import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { assertRefused, openApi, ADMIN } from './client.ts'

const api = await openApi()
after(() => api[Symbol.asyncDispose]())

const ACCEPT = { accept: 'text/csv' }

test('every list without a parameter in its path is a table, too, with the fields of its items', async () => {
  const lists = api.places.filter(
    ({ path, operation: { responses, parameters = [] } }) =>
      responses['200']?.content?.['text/csv'] &&
      !path.includes('{') &&
      !parameters.some(({ required }) => required),
  )
  assert.ok(lists.length > 15, `${lists.length}`)
  for (const { path } of lists) {
    const answer = await api.send({ method: 'GET', path, headers: { ...ADMIN, ...ACCEPT } })
    assert.deepEqual(
      [path, answer.status, answer.headers['content-type']],
      [path, 200, 'text/csv; charset=utf-8'],
    )
    assert.match(answer.text, /^[a-z0-9_,]+\r\n/, path)
  }
})

test('a table has all pages of the list that the caller may read, and its filters', async () => {
  for (let n = 0; n < 203; n++) {
    const body = { order_id: `csv-${n}`, platform: n === 0 ? '=1+1' : 'csv', amount_cents: 1 }
    await api.send({ method: 'POST', path: '/orders', body })
  }
  const send = (path: string, headers: object = ADMIN) =>
    api.send({ method: 'GET', path, headers: { ...headers, ...ACCEPT } })
  const all = await send('/orders?id_prefix=csv-')
  const lines = all.text.trimEnd().split('\r\n')
  assert.equal(lines.length, 204)
  assert.match(lines[0] ?? '', /^order_id,platform,/)
  assert.match(lines[1] ?? '', /^csv-0,'=1\+1,/)
  assert.equal(all.headers['content-disposition'], 'attachment; filename="orders.csv"')
  assert.equal((await send('/orders?platform=csv&limit=3')).text.trimEnd().split('\r\n').length, 4)
  assertRefused(await send('/orders?status=wrong'), 400, 'validation_failed')
  const stranger = { 'x-user-id': 'eve', 'x-user-roles': 'auditor' }
  assertRefused(await send('/orders', stranger), 403, 'forbidden')
})
