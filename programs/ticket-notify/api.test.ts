import type { ServerResponse } from 'node:http'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startTicketApi, ticket, TICKET_API_FAULTS } from '../../test/support/ticket-api.ts'
import { type Alert, FetchError, type FetchOptions, fetchTickets, reportAlert } from './api.ts'

const optionsFor = (api: string, options: Partial<FetchOptions> = {}): FetchOptions => ({
  api,
  limit: 500,
  identity: { name: 'ops-1', roles: 'service,devops' },
  signal: new AbortController().signal,
  ...options,
})

test('the newest tickets are requested with the headers of a local tool, without a secret', async () => {
  await using api = await startTicketApi()
  await fetchTickets(optionsFor(`${api.url}/base`, { limit: 7 }))
  const { method, url, headers } = api.requests[0] ?? assert.fail()
  assert.deepEqual([method, url], ['GET', '/base/tickets?limit=7'])
  assert.deepEqual(
    [headers['x-user-id'], headers['x-user-name'], headers['x-user-roles']],
    ['ops-1', 'ops-1', 'service,devops'],
  )
  assert.deepEqual([headers.authorization, headers.cookie], [undefined, undefined])
})

test('500 tickets with long descriptions are read', async () => {
  await using api = await startTicketApi()
  api.tickets = Array.from({ length: 500 }, (_, n) => ticket(`t${n}`, { description: '磁'.repeat(5_000) }))
  const { fetched, tickets } = await fetchTickets(optionsFor(api.url))
  assert.deepEqual([fetched, tickets.length], [500, 500])
})

const paths = ({ requests }: { readonly requests: readonly { readonly url?: string | undefined }[] }) =>
  requests.map(({ url = '' }) => url)

test('more tickets than a page has are fetched page by page, up to the limit', async () => {
  await using api = await startTicketApi()
  const all = Array.from({ length: 2_700 }, (_, n) => ticket(`t${n}`))
  api.behave((response) => {
    const { searchParams } = new URL(paths(api).at(-1) ?? '', api.url)
    const [limit, from] = [Number(searchParams.get('limit')), Number(searchParams.get('cursor'))]
    if (limit > 1_000) return void response.writeHead(400).end()
    const to = from + Math.min(limit, 900)
    response.end(
      JSON.stringify({ items: all.slice(from, to), next_cursor: to < all.length ? String(to) : null }),
    )
  })
  for (const [limit, fetched, requests] of [
    [5_000, 2_700, 3],
    [1_000, 1_000, 2],
    [500, 500, 1],
  ] as const) {
    const before = api.requests.length
    const list = await fetchTickets(optionsFor(api.url, { limit }))
    assert.deepEqual(
      [list.fetched, list.tickets.length, api.requests.length - before],
      [fetched, fetched, requests],
    )
  }
})

test('a list without pages is fetched whole', async () => {
  await using api = await startTicketApi()
  const all = Array.from({ length: 1_500 }, (_, n) => ticket(`t${n}`))
  api.behave((response) => {
    const limit = Number(new URL(paths(api).at(-1) ?? '', api.url).searchParams.get('limit'))
    response.end(JSON.stringify(all.slice(0, limit)))
  })
  assert.equal((await fetchTickets(optionsFor(api.url, { limit: 5_000 }))).fetched, 1_500)
  assert.deepEqual(paths(api), ['/tickets?limit=1000', '/tickets?limit=5000'])
})

for (const [fault, behaviour] of Object.entries(TICKET_API_FAULTS)) {
  test(`a platform that ${fault} is a failed fetch`, async () => {
    await using api = await startTicketApi()
    api.tickets = [ticket('a')]
    api.behave(behaviour)
    await assert.rejects(fetchTickets(optionsFor(api.url)), FetchError)
    assert.equal(api.requests.length, 1)
  })
}

test('the message of a refusal is in the error', async () => {
  await using api = await startTicketApi()
  const body = JSON.stringify({ code: 'validation_failed', message: 'limit: expected at most 1000' })
  api.behave((response) => void response.writeHead(400).end(body))
  await assert.rejects(fetchTickets(optionsFor(api.url)), {
    name: 'FetchError',
    message: 'HTTP status 400: limit: expected at most 1000',
  })
})

test('a platform that is not reachable is a failed fetch', async () => {
  const api = await startTicketApi()
  await api[Symbol.asyncDispose]()
  await assert.rejects(fetchTickets(optionsFor(api.url)), { name: 'FetchError', message: /ECONNREFUSED/ })
})

const SLOW = {
  'accepts and does not answer': () => {},
  'sends a byte now and then': (response: ServerResponse) => {
    response.writeHead(200)
    const timer = setInterval(() => response.write(' '), 30)
    response.on('close', () => clearInterval(timer))
  },
}

for (const [fault, behaviour] of Object.entries(SLOW)) {
  test(`a platform that ${fault} fails when its time is over`, async () => {
    await using api = await startTicketApi()
    api.behave(behaviour)
    const fetching = fetchTickets(optionsFor(api.url, { timeoutMs: 200 }))
    await assert.rejects(fetching, { name: 'FetchError', message: 'no answer within 0.2 s' })
  })
}

test('aborting a fetch ends it at once', async () => {
  await using api = await startTicketApi()
  const control = new AbortController()
  api.behave(() => control.abort())
  const fetching = fetchTickets(optionsFor(api.url, { signal: control.signal }))
  await assert.rejects(fetching, { name: 'FetchError', message: 'interrupted' })
  const afterwards = fetchTickets(optionsFor(api.url, { signal: control.signal }))
  await assert.rejects(afterwards, { name: 'FetchError', message: 'interrupted' })
  assert.equal(api.requests.length, 1)
})

test('an endless answer is a failed fetch', async () => {
  await using api = await startTicketApi()
  api.behave((response) => {
    const chunk = Buffer.alloc(1_048_576, ' ')
    const pour = () => {
      while (!response.destroyed && response.write(chunk));
      response.once('drain', pour)
    }
    pour()
  })
  await assert.rejects(fetchTickets(optionsFor(api.url)), { name: 'FetchError', message: /larger than/ })
})

const ALERT: Alert = {
  source: 'ticket-notify',
  title: 'ticket-notify.state',
  body: 'weight=5',
  level: 'HIGH',
  server_addr: 'host-1',
  alarm_id: 'ticket-notify.state',
}

for (const status of [200, 201]) {
  test(`an alert is reported as JSON by the same identity, and ${status} takes it`, async () => {
    await using api = await startTicketApi()
    api.behave((response) => void response.writeHead(status).end('{}'))
    await reportAlert(ALERT, optionsFor(api.url))
    const { method, url, headers, body } = api.requests[0] ?? assert.fail()
    assert.deepEqual([method, url, headers['content-type']], ['POST', '/alerts/report', 'application/json'])
    assert.deepEqual([headers['x-user-id'], headers['x-user-roles']], ['ops-1', 'service,devops'])
    assert.deepEqual(JSON.parse(body), ALERT)
  })
}

test('an alert that is refused or not answered in time is an error', async () => {
  await using api = await startTicketApi()
  api.behave((response) => void response.writeHead(403).end('{"code":"forbidden","message":"no"}'))
  await assert.rejects(reportAlert(ALERT, optionsFor(api.url)), { message: 'HTTP status 403: no' })
  api.behave(() => {})
  await assert.rejects(reportAlert(ALERT, optionsFor(api.url, { timeoutMs: 200 })), { message: /no answer/ })
})
