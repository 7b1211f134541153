import { sql } from 'kysely'
import type { Migration } from './migration.ts'

export const vpnHolders: Migration = {
  name: '0003-vpn-holders',
  breaking: false,
  async up({ db }) {
    // Entries of earlier releases keep null.
    for (const column of ['user_name', 'device', 'virtual_ip'])
      await db.schema.alterTable('vpn_audit').addColumn(column, 'text').execute()
    // How many addresses of a pool are held, without reading the free ones.
    await db.schema
      .createIndex('vpn_leases_held')
      .on('vpn_leases')
      .column('address')
      .where(sql.ref('session_id'), 'is not', null)
      .execute()
    // How many live sessions a user has, without reading the closed ones.
    await db.schema
      .createIndex('vpn_sessions_live_of_user')
      .on('vpn_sessions')
      .columns(['user_id', 'closed_at'])
      .where(sql.ref('closed_at'), 'is', null)
      .execute()
  },
}
