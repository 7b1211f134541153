// What a platform on a slow disk is compared with: `node:http` and `node:sqlite` alone, the same two rows for each
// order, all that have arrived meanwhile in one commit, and the commit with its fsync on the event loop.
import { createServer, type ServerResponse } from 'node:http'
import { DatabaseSync } from 'node:sqlite'

interface Order {
  readonly order_id: string
  readonly platform: string
  readonly amount_cents: number
}

const [, , port, file = ''] = process.argv
const database = new DatabaseSync(file)
database.exec(`
  pragma journal_mode = wal; pragma synchronous = full;
  create table orders (seq integer primary key, order_id text unique, platform text, amount_cents integer,
    status text, expires_at integer, created_at integer);
  create index orders_by_status on orders (status, seq);
  create table messages (seq integer primary key, id text unique, subject text, payload text, status text);
  create index messages_pending on messages (status, seq) where status = 'pending'`)
const insertOrder = database.prepare(
  `insert into orders (order_id, platform, amount_cents, status, expires_at, created_at)
   values (?, ?, ?, 'pending', ?, ?)`,
)
const insertMessage = database.prepare(
  `insert into messages (id, subject, payload, status) values (?, 'order.created', ?, 'pending')`,
)

let waiting: { readonly order: Order; readonly response: ServerResponse }[] = []

function commit(): void {
  const group = waiting
  waiting = []
  const now = Date.now()
  database.exec('begin immediate')
  for (const { order } of group) {
    insertOrder.run(order.order_id, order.platform, order.amount_cents, now + 900_000, now)
    insertMessage.run(crypto.randomUUID(), JSON.stringify({ ...order, padding: 'x'.repeat(450) }))
  }
  database.exec('commit')
  for (const { order, response } of group) answer(response, JSON.stringify(order))
}

function answer(response: ServerResponse, body: string): void {
  response
    .writeHead(201, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) })
    .end(body)
}

createServer((request, response) => {
  let text = ''
  request.setEncoding('utf8')
  request.on('data', (chunk: string) => (text += chunk))
  request.on('end', () => {
    if (waiting.length === 0) setImmediate(commit)
    waiting.push({ order: JSON.parse(text) as Order, response })
  })
}).listen(Number(port), '127.0.0.1')
