import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { testStore } from '../../test/support/store.ts'

// Each query that runs all the time, with the index that keeps it from growing with the table.
const PLANS: readonly (readonly [what: string, query: string, index: RegExp])[] = [
  [
    'the timeout scan',
    "select * from orders where status = 'pending' and expires_at <= 1 order by expires_at limit 100",
    /USING INDEX orders_due \(status=\? AND expires_at<\?\)$/,
  ],
  [
    'a page of one status',
    "select * from orders where status = 'paid' and seq < 9 order by seq desc limit 100",
    /USING INDEX orders_by_status/,
  ],
  [
    'a page of one platform',
    "select * from orders where platform = 'live' and seq < 9 order by seq desc limit 100",
    /USING INDEX orders_by_platform/,
  ],
  [
    'what waits in the outbox',
    "select * from messages where status = 'pending' order by seq limit 500",
    /USING INDEX messages_pending/,
  ],
  [
    'dead messages',
    "select * from messages where status = 'dead' and seq < 9 order by seq desc limit 100",
    /USING INDEX messages_dead/,
  ],
  [
    'old messages',
    'select seq from messages where delivered_at < 1 order by delivered_at limit 500',
    /USING (COVERING )?INDEX messages_delivered/,
  ],
]

for (const [what, query, index] of PLANS) {
  test(`${what} is read by its index, without sorting`, async () => {
    await using world = await testStore('sqlite')
    const { rows } = await sql<{ detail: string }>`explain query plan ${sql.raw(query)}`.execute(
      world.store.read.db,
    )
    assert.equal(rows.length, 1, rows.map(({ detail }) => detail).join('; '))
    assert.match(rows[0]?.detail ?? '', index)
  })
}
