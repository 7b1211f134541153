import { sql } from 'kysely'
import type { Migration } from './migration.ts'

export const addHeartbeatPings: Migration = {
  name: '0031-heartbeat-pings',
  breaking: false,
  async up({ db, capabilities: { integer, numbered, tableSuffix } }) {
    const columns = [
      ['ping_hash', 'text'],
      ['schedule', 'text'],
      ['time_zone', 'text'],
      ['max_run_seconds', integer],
      ['started_at', integer],
      ['duration_seconds', integer],
    ] as const
    for (const [name, type] of columns)
      await db.schema.alterTable('heartbeats').addColumn(name, type).execute()
    await db.schema
      .createIndex('heartbeats_by_ping_hash')
      .on('heartbeats')
      .column('ping_hash')
      .unique()
      .where(sql.ref('ping_hash'), 'is not', null)
      .execute()
    await db.schema
      .createTable('heartbeat_pings')
      .addColumn('seq', integer, numbered)
      .addColumn('heartbeat', 'text', (column) => column.notNull())
      .addColumn('at', integer, (column) => column.notNull())
      .addColumn('kind', 'text', (column) => column.notNull())
      .addColumn('exit_code', integer)
      .addColumn('duration_seconds', integer)
      .addColumn('remote_address', 'text')
      .addColumn('body', 'text', (column) => column.notNull())
      .modifyEnd(tableSuffix)
      .execute()
    await db.schema
      .createIndex('heartbeat_pings_by_heartbeat')
      .on('heartbeat_pings')
      .columns(['heartbeat', 'seq'])
      .execute()
  },
}
