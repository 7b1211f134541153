import { sql } from 'kysely'
import type { Migration } from './migration.ts'

export const addApiTokens: Migration = {
  name: '0027-api-tokens',
  breaking: false,
  async up({ db, capabilities: { integer, numbered, tableSuffix } }) {
    await db.schema
      .createTable('api_tokens')
      .addColumn('seq', integer, numbered)
      .addColumn('id', 'text', (column) => column.notNull().unique())
      .addColumn('user_id', 'text', (column) => column.notNull())
      .addColumn('name', 'text', (column) => column.notNull())
      .addColumn('hash', 'text', (column) => column.notNull().unique())
      .addColumn('roles', 'text')
      .addColumn('created_at', integer, (column) => column.notNull())
      .addColumn('expires_at', integer, (column) => column.notNull())
      .addColumn('last_used_at', integer)
      .addColumn('last_used_from', 'text')
      .modifyEnd(tableSuffix)
      .execute()
    await db.schema.createIndex('api_tokens_by_user').on('api_tokens').columns(['user_id', 'seq']).execute()
    await db.schema
      .createTable('ended_tokens')
      .addColumn('token_id', 'text', (column) => column.primaryKey())
      .addColumn('ended_at', integer, (column) => column.notNull())
      .addColumn('expires_at', integer, (column) => column.notNull())
      .modifyEnd(tableSuffix)
      .execute()
    await db.schema.createIndex('ended_tokens_by_end').on('ended_tokens').column('ended_at').execute()
    await db.schema.createIndex('ended_tokens_by_expiry').on('ended_tokens').column('expires_at').execute()
    await db.schema.alterTable('vpn_sessions').addColumn('token_id', 'text').execute()
    await db.schema
      .createIndex('vpn_sessions_by_token')
      .on('vpn_sessions')
      .column('token_id')
      .where(sql.ref('token_id'), 'is not', null)
      .execute()
  },
}
