import assert from 'node:assert/strict'
import { get } from 'node:http'
import { test } from 'node:test'
import { ClientSocket, type SocketTarget } from '../../bench/support/client-socket.ts'
import { openDatabase } from '../../bench/support/database.ts'
import { startDurableAccept, startDurableOrders } from '../../bench/support/durable-servers.ts'
import { startGateway, startGatewayApi } from '../../bench/support/gateway-server.ts'
import { LOCAL_TOOL } from '../../bench/support/order-load.ts'
import { startPlatform } from '../../bench/support/platform-server.ts'
import { diskDirectory } from '../../bench/support/servers.ts'
import { freePort } from '../support/loopback.ts'
import { signToken } from '../../bench/support/tokens.ts'

// A limit that wrote less than the platform would be a limit of something else.

test('the bare durable server answers an order as the platform does, and writes the same rows', async () => {
  await using stack = new AsyncDisposableStack()
  const order = { order_id: 'order-1', platform: 'live', amount_cents: 4_990 }
  const create = async (start: typeof startDurableOrders) => {
    const { path: dataDir } = stack.use(diskDirectory())
    const port = await freePort()
    stack.use(await start({ dataDir, port }))
    const answer = await fetch(`http://127.0.0.1:${port}/orders`, {
      method: 'POST',
      headers: { ...LOCAL_TOOL, 'content-type': 'application/json', connection: 'close' },
      body: JSON.stringify(order),
    })
    return { status: answer.status, body: await answer.text(), rows: rowsOf(dataDir, ['orders', 'messages']) }
  }
  const [bare, ours] = [await create(startDurableOrders), await create(startPlatform)]
  assert.equal(withoutChance(bare), withoutChance(ours))
})

test('the bare durable accept opens a session as the gateway does, and writes the same rows', async () => {
  await using stack = new AsyncDisposableStack()
  const { path: dataDir } = stack.use(diskDirectory())
  const port = await freePort()
  stack.use(await startDurableAccept({ dataDir, port }))
  const api = await startGatewayApi(stack)
  const { target } = stack.use(await startGateway(api, 'bare'))
  const open = async (at: SocketTarget, directory: string) => {
    const socket = new ClientSocket(at)
    await socket.opened
    const rows = rowsOf(directory, ['vpn_sessions', 'vpn_leases', 'vpn_audit', 'messages'])
    socket.drop()
    return rows
  }
  const bare = await open({ port, path: '/', openedBy: '{"type":"session"' }, dataDir)
  const ours = await open(target, api.dataDir)
  assert.equal(withoutChance(bare), withoutChance(ours))
})

test('the bare durable accept refuses a token that is not signed', async () => {
  await using stack = new AsyncDisposableStack()
  const { path: dataDir } = stack.use(diskDirectory())
  const port = await freePort()
  stack.use(await startDurableAccept({ dataDir, port }))
  const answer = await new Promise<number | undefined>((resolve, reject) => {
    const headers = {
      connection: 'Upgrade',
      upgrade: 'websocket',
      'sec-websocket-version': '13',
      'sec-websocket-key': 'AAAAAAAAAAAAAAAAAAAAAA==',
      authorization: `Bearer ${signToken('bench-00000').slice(0, -4)}AAAA`,
    }
    get({ port, host: '127.0.0.1', headers, agent: false }, ({ statusCode }) => resolve(statusCode))
      .once('upgrade', () => reject(new Error('a session was opened')))
      .once('error', reject)
  })
  assert.equal(answer, 401)
})

function rowsOf(dataDir: string, tables: readonly string[]): object {
  using database = openDatabase(dataDir)
  return tables.map((table) => database.prepare(`select * from ${table} order by 1`).all())
}

/** As JSON text, with a placeholder for each id and each time. */
function withoutChance(value: object): string {
  return JSON.stringify(value, null, 1)
    .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[47][0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/g, 'ID')
    .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, 'TIME')
    .replaceAll(/00-[0-9a-f]{32}-[0-9a-f]{16}-00/g, 'TRACE')
    .replaceAll(/bench-\d{5}/g, 'USER')
    .replaceAll(/\b1\d{12}\b/g, 'MILLISECONDS')
}
