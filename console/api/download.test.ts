import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createDownloader, createListDownloader } from './download.ts'

const downloaderOf = (answer: () => Promise<Response>) => {
  const requests: string[] = []
  const refused: string[] = []
  const download = createDownloader({
    fetch: (path, { headers, signal }) => {
      requests.push(`${path} ${JSON.stringify(headers)} ${signal ? 'limited' : 'unlimited'}`)
      return answer()
    },
    token: () => 'abc',
    onRefused: (token) => void refused.push(token),
  })
  return { download: () => download('getCertificatePem', { path: { id: 'a/b' } }), requests, refused }
}

test('a file has the name that the API gives it; the request has the token and no time limit', async () => {
  const headers = { 'content-disposition': 'attachment; filename="shop.pem"' }
  const { download, requests } = downloaderOf(async () => new Response('PEM', { headers }))
  const result = await download()
  assert.ok(result.ok)
  assert.deepEqual([result.value.name, await result.value.content.text()], ['shop.pem', 'PEM'])
  assert.deepEqual(requests, ['/certificates/a%2Fb/pem {"authorization":"Bearer abc"} unlimited'])
})

test('a refused download has the sentence of the API, and a refused token is reported', async () => {
  const body = { code: 'unauthenticated', message: 'The token has expired.' }
  const { download, refused } = downloaderOf(async () => Response.json(body, { status: 401 }))
  const result = await download()
  assert.ok(!result.ok)
  assert.deepEqual([result.failure.code, result.failure.message], ['unauthenticated', body.message])
  assert.deepEqual(refused, ['abc'])
})

test('a download that breaks is a failure', async () => {
  const { download } = downloaderOf(() => Promise.reject(new TypeError('failed')))
  const result = await download()
  assert.equal(!result.ok && result.failure.code, 'unreachable')
})

test('a list is fetched as a table, which begins with the mark that spreadsheets need', async () => {
  const requests: string[] = []
  const downloadList = createListDownloader({
    fetch: async (path, { headers }) => {
      requests.push(`${path} ${JSON.stringify(headers)}`)
      return new Response('a,b', { headers: { 'content-disposition': 'attachment; filename="orders.csv"' } })
    },
    token: () => 'abc',
    onRefused: () => undefined,
  })
  const result = await downloadList('listOrders', { status: 'paid' })
  assert.ok(result.ok)
  assert.equal(result.value.name, 'orders.csv')
  assert.deepEqual(
    new Uint8Array(await result.value.content.arrayBuffer()).slice(0, 4),
    Uint8Array.of(0xef, 0xbb, 0xbf, 97),
  )
  assert.deepEqual(requests, ['/orders?status=paid {"authorization":"Bearer abc","accept":"text/csv"}'])
})
