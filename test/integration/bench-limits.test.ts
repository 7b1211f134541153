import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openDatabase } from '../../bench/support/database.ts'
import { startDurableOrders } from '../../bench/support/durable-servers.ts'
import { LOCAL_TOOL } from '../../bench/support/order-load.ts'
import { startPlatform } from '../../bench/support/platform-server.ts'
import { diskDirectory, freePort } from '../../bench/support/servers.ts'

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

function rowsOf(dataDir: string, tables: readonly string[]): object {
  using database = openDatabase(dataDir)
  return tables.map((table) => database.prepare(`select * from ${table} order by 1`).all())
}

/** As JSON text, with a placeholder for each id and each time. */
function withoutChance(value: object): string {
  return JSON.stringify(value, null, 1)
    .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/g, 'ID')
    .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, 'TIME')
    .replaceAll(/\b1\d{12}\b/g, 'MILLISECONDS')
}
