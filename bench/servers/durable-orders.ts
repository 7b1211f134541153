// The limit of any durable `POST /orders` on this machine: `node:http` and `node:sqlite` alone. For each order it writes
// the two rows that the platform writes, to a database that the platform's own migrations have made. All orders of one
// turn of the event loop share a commit and its fsync, and are answered after it.
import { randomUUIDv7 } from 'node:crypto'
import { createServer, type ServerResponse } from 'node:http'
import { GroupCommit, newTraceparent, openDurable } from '../support/group-commit.ts'

interface NewOrder {
  readonly order_id: string
  readonly platform: string
  readonly amount_cents: number
}

interface Call {
  readonly order: NewOrder
  readonly response: ServerResponse
  answer: string
}

const [, , port, file = ''] = process.argv
const EXPIRY_MS = 15 * 60_000
const EVENT_HEADERS = JSON.stringify({ 'content-type': 'application/cloudevents+json; charset=utf-8' })

const database = openDurable(file)
const insertOrder = database.prepare(`
  insert into orders (order_id, platform, amount_cents, status, expires_at, created_at, created_by, updated_at, version)
  values (?, ?, ?, 'pending', ?, ?, 'bench', ?, 1)`)
const insertMessage = database.prepare(`
  insert into messages (id, subject, payload, headers, status, attempts, created_at)
  values (?, 'order.created', ?, ?, 'pending', 0, ?)`)

const calls = new GroupCommit<Call>({
  database,
  insert(call, at) {
    const { order_id, platform, amount_cents } = call.order
    insertOrder.run(order_id, platform, amount_cents, at + EXPIRY_MS, at, at)
    call.answer = orderJson(call.order, at)
    const id = randomUUIDv7()
    insertMessage.run(id, eventJson(id, order_id, at, call.answer), EVENT_HEADERS, at)
  },
  answer({ response, answer }) {
    const head = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(answer) }
    response.writeHead(201, head).end(answer)
  },
})

function orderJson({ order_id, platform, amount_cents }: NewOrder, at: number): string {
  const time = new Date(at).toISOString()
  return JSON.stringify({
    order_id,
    platform,
    amount_cents,
    status: 'pending',
    expires_at: new Date(at + EXPIRY_MS).toISOString(),
    created_at: time,
    updated_at: time,
    paid_at: null,
    shipped_at: null,
    completed_at: null,
    expired_at: null,
    version: 1,
  })
}

/** A CloudEvent in structured mode. */
function eventJson(id: string, subject: string, at: number, data: string): string {
  const attributes = {
    specversion: '1.0',
    id,
    source: '/platform/orders',
    type: 'order.created',
    subject,
    time: new Date(at).toISOString(),
    datacontenttype: 'application/json',
    traceparent: newTraceparent(),
  }
  return `${JSON.stringify(attributes).slice(0, -1)},"data":${data}}`
}

createServer((request, response) => {
  let text = ''
  request.setEncoding('utf8')
  request.on('data', (chunk: string) => (text += chunk))
  request.on('end', () => calls.add({ order: JSON.parse(text) as NewOrder, response, answer: '' }))
}).listen(Number(port), '127.0.0.1')
