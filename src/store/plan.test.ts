import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { testStore } from '../../test/support/store.ts'

// The frequent queries, each with the index that keeps its cost independent of the size of the table. For the pages of
// lists there is test/integration/list-plans.test.ts.
const PLANS: readonly (readonly [what: string, query: string, index: RegExp])[] = [
  [
    'the timeout scan',
    "select * from orders where status = 'pending' and expires_at <= 1 order by expires_at limit 100",
    /USING INDEX orders_due \(status=\? AND expires_at<\?\)$/,
  ],
  [
    'the pending messages of the outbox',
    "select * from messages where status = 'pending' order by seq limit 500",
    /USING INDEX messages_pending/,
  ],
  [
    'the next events of the live stream',
    "select seq from messages where seq > 1 and seq <= 9 and headers = 'h' order by seq limit 500",
    /USING INTEGER PRIMARY KEY \(rowid>\? AND rowid<\?\)$/,
  ],
  [
    'old messages',
    'select seq from messages where delivered_at < 1 order by delivered_at limit 500',
    /USING (COVERING )?INDEX messages_delivered/,
  ],
  [
    'the children of a menu',
    "select id from menus where parent_id = 'a' limit 1",
    /USING (COVERING )?INDEX menus_by_parent \(parent_id=\?\)$/,
  ],
  [
    'the telemetry that waits',
    'select seq, items from telemetry_uploads where delivered_at is null order by seq limit 500',
    /USING (COVERING )?INDEX telemetry_uploads_pending/,
  ],
  [
    'old telemetry',
    'select seq from telemetry_uploads where delivered_at < 1 and seq < 9 order by delivered_at limit 500',
    /USING (COVERING )?INDEX telemetry_uploads_delivered/,
  ],
  [
    'the agents that have been silent longest',
    "select seq from telemetry_agents where agent_id != 'a' order by last_at, seq limit 1",
    /USING (COVERING )?INDEX telemetry_agents_by_silence/,
  ],
  [
    'the certificates that share a name with another one',
    "select certificate_id from certificate_names where name in ('a', 'b')",
    /USING COVERING INDEX sqlite_autoindex_certificate_names_1 \(name=\?\)$/,
  ],
  [
    'the certificates of names below a wildcard',
    "select certificate_id from certificate_names where wildcard in ('*.a', '*.b')",
    /USING INDEX certificate_names_by_wildcard \(wildcard=\?\)$/,
  ],
  [
    'the notifications that no message contains yet',
    "select id from alert_notifications where outcome = 'pending' and message_id is null order by seq limit 1000",
    /USING INDEX alert_notifications_pending/,
  ],
  [
    'the notifications in a message',
    "select id from alert_notifications where message_id = 'm' and outcome = 'pending'",
    /USING INDEX alert_notifications_in_message/,
  ],
  [
    'the tickets of sign-ins that have expired',
    'select ticket_hash from sign_in_tickets where expires_at <= 1 limit 1000',
    /USING INDEX sign_in_tickets_by_expiry \(expires_at<\?\)$/,
  ],
  [
    'the answers to sign-ins that have expired',
    'select state_hash from sign_in_answers where expires_at <= 1 limit 1000',
    /USING INDEX sign_in_answers_by_expiry \(expires_at<\?\)$/,
  ],
  [
    'the sessions of a gateway that another process has ended',
    "select id from vpn_sessions where run_id = 'r' and untold = 1 order by seq limit 1000",
    /USING INDEX vpn_sessions_untold \(run_id=\?\)$/,
  ],
  [
    'the next address to assign',
    "select address from vpn_leases where pool = 'p' and session_id is null and released_at >= 0 and released_at <= 9 order by released_at, address limit 1",
    /USING (COVERING )?INDEX vpn_leases_free \(pool=\? AND released_at>\? AND released_at<\?\)$/,
  ],
  [
    'the address that a device had',
    "select address from vpn_leases where user_id = 'u' and device = 'd' and session_id is null",
    /USING INDEX vpn_leases_remembered \(user_id=\? AND device=\?\)$/,
  ],
  [
    'the live session of a device',
    "select id from vpn_sessions where user_id = 'u' and device = 'd' and closed_at is null",
    /USING INDEX vpn_sessions_device \(user_id=\? AND device=\?\)$/,
  ],
  [
    'the live sessions of a gateway',
    "select id from vpn_sessions where run_id = 'r' and closed_at is null order by seq limit 100",
    /USING INDEX vpn_sessions_of_run \(run_id=\?\)$/,
  ],
  [
    'the held addresses of a pool',
    'select count(*) from vpn_leases where session_id is not null and address >= 1 and address <= 9',
    /USING (COVERING )?INDEX vpn_leases_held \(address>\? AND address<\?\)$/,
  ],
  [
    'the number of live sessions of a user',
    "select count(*) from vpn_sessions where user_id = 'u' and closed_at is null",
    /USING (COVERING )?INDEX vpn_sessions_live_of_user \(user_id=\? AND closed_at=\?\)$/,
  ],
  [
    'the addresses that cool down',
    "select count(*) from vpn_leases where pool = 'p' and session_id is null and released_at > 1 and released_at <= 9",
    /USING INDEX vpn_leases_free \(pool=\? AND released_at>\? AND released_at<\?\)$/,
  ],
  [
    'old sessions',
    'select seq from vpn_sessions where closed_at < 1 order by closed_at limit 500',
    /USING (COVERING )?INDEX vpn_sessions_closed/,
  ],
  [
    'the number of unclosed tickets',
    'select level, count(*) from tickets where closed_at is null group by level',
    /USING (COVERING )?INDEX tickets_unclosed$/,
  ],
  [
    'the number of dead messages',
    "select created_at from messages where status = 'dead' order by seq limit 100000",
    /USING INDEX messages_dead/,
  ],
  [
    'the number of firing alerts of a weight',
    "select weight from alerts where status = 'firing' and weight = 6 limit 10000",
    /USING COVERING INDEX alerts_(?:firing|by_status_weight) \(status=\? AND weight=\?\)$/,
  ],
  [
    'the steps of the overview',
    'select * from overview_steps where at >= 1 and at <= 9',
    /USING INTEGER PRIMARY KEY \(rowid>\? AND rowid<\?\)$/,
  ],
  [
    'old steps of the overview',
    'select at from overview_steps where at < 1 order by at limit 500',
    /USING INTEGER PRIMARY KEY \(rowid<\?\)$/,
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
