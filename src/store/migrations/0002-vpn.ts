import { sql } from 'kysely'
import type { Migration } from './migration.ts'

export const vpn: Migration = {
  name: '0002-vpn',
  breaking: false,
  async up({ db, capabilities }) {
    const { integer, numberedAbove, tableSuffix } = capabilities

    await db.schema
      .createTable('vpn_gateways')
      .addColumn('run_id', 'text', (column) => column.primaryKey())
      .addColumn('name', 'text', (column) => column.notNull())
      .addColumn('address', 'text', (column) => column.notNull())
      .addColumn('heartbeat_ms', integer, (column) => column.notNull())
      .addColumn('started_at', integer, (column) => column.notNull())
      .addColumn('last_seen_at', integer, (column) => column.notNull())
      .addColumn('left_at', integer)
      .modifyEnd(tableSuffix)
      .execute()
    await db.schema
      .createIndex('vpn_gateways_by_name')
      .on('vpn_gateways')
      .columns(['name', 'started_at'])
      .execute()

    await db.schema
      .createTable('vpn_pools')
      .addColumn('cidr', 'text', (column) => column.primaryKey())
      .addColumn('next_address', integer, (column) => column.notNull())
      .addColumn('alerted_percent', integer, (column) => column.notNull())
      .modifyEnd(tableSuffix)
      .execute()

    await db.schema
      .createTable('vpn_leases')
      .addColumn('address', integer, (column) => column.primaryKey())
      .addColumn('pool', 'text', (column) => column.notNull())
      .addColumn('session_id', 'text')
      .addColumn('user_id', 'text')
      .addColumn('device', 'text')
      .addColumn('released_at', integer, (column) => column.notNull())
      .modifyEnd(tableSuffix)
      .execute()
    // The first entry is the next address to assign, however many there are.
    await db.schema
      .createIndex('vpn_leases_free')
      .on('vpn_leases')
      .columns(['pool', 'released_at', 'address'])
      .where(sql.ref('session_id'), 'is', null)
      .execute()
    await db.schema
      .createIndex('vpn_leases_remembered')
      .on('vpn_leases')
      .columns(['user_id', 'device'])
      .where(sql.ref('device'), 'is not', null)
      .execute()

    await db.schema
      .createTable('vpn_sessions')
      .addColumn('seq', integer, numberedAbove)
      .addColumn('id', 'text', (column) => column.notNull().unique())
      .addColumn('user_id', 'text', (column) => column.notNull())
      .addColumn('user_name', 'text', (column) => column.notNull())
      .addColumn('device', 'text')
      .addColumn('address', integer, (column) => column.notNull())
      .addColumn('gateway', 'text', (column) => column.notNull())
      .addColumn('run_id', 'text', (column) => column.notNull())
      .addColumn('remote_address', 'text', (column) => column.notNull())
      .addColumn('connected_at', integer, (column) => column.notNull())
      .addColumn('last_seen_at', integer, (column) => column.notNull())
      .addColumn('rtt_us', integer)
      .addColumn('closed_at', integer)
      .addColumn('close_code', integer)
      .addColumn('close_reason', 'text')
      .addColumn('untold', integer)
      .modifyEnd(tableSuffix)
      .execute()
    // Two invariants that must survive any crash: one live session for an address, and one for a device of a user.
    await db.schema
      .createIndex('vpn_sessions_address')
      .unique()
      .on('vpn_sessions')
      .column('address')
      .where(sql.ref('closed_at'), 'is', null)
      .execute()
    await db.schema
      .createIndex('vpn_sessions_device')
      .unique()
      .on('vpn_sessions')
      .columns(['user_id', 'device'])
      .where(sql.ref('closed_at'), 'is', null)
      .execute()
    await db.schema
      .createIndex('vpn_sessions_of_run')
      .on('vpn_sessions')
      .columns(['run_id', 'seq'])
      .where(sql.ref('closed_at'), 'is', null)
      .execute()
    await db.schema
      .createIndex('vpn_sessions_open')
      .on('vpn_sessions')
      .column('seq')
      .where(sql.ref('closed_at'), 'is', null)
      .execute()
    await db.schema
      .createIndex('vpn_sessions_closed')
      .on('vpn_sessions')
      .column('closed_at')
      .where(sql.ref('closed_at'), 'is not', null)
      .execute()
    await db.schema
      .createIndex('vpn_sessions_by_user')
      .on('vpn_sessions')
      .columns(['user_id', 'seq'])
      .execute()
    // Every gateway reads it twice a second, and it is nearly always empty.
    await db.schema
      .createIndex('vpn_sessions_untold')
      .on('vpn_sessions')
      .columns(['run_id', 'seq'])
      .where(sql.ref('untold'), '=', sql.lit(1))
      .execute()

    await db.schema
      .createTable('vpn_audit')
      .addColumn('seq', integer, numberedAbove)
      .addColumn('id', 'text', (column) => column.notNull())
      .addColumn('at', integer, (column) => column.notNull())
      .addColumn('event', 'text', (column) =>
        column.notNull().check(sql`event in ('session_registered', 'session_closed', 'auth_failed')`),
      )
      .addColumn('session_id', 'text')
      .addColumn('user_id', 'text')
      .addColumn('gateway', 'text', (column) => column.notNull())
      .addColumn('remote_address', 'text')
      .addColumn('reason', 'text')
      .modifyEnd(tableSuffix)
      .execute()
    await db.schema.createIndex('vpn_audit_by_user').on('vpn_audit').columns(['user_id', 'seq']).execute()
    // The few events that a query selects; the others are most of the table.
    await db.schema
      .createIndex('vpn_audit_auth_failed')
      .on('vpn_audit')
      .columns(['event', 'seq'])
      .where('event', '=', sql.lit('auth_failed'))
      .execute()
  },
}
