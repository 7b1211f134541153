import { sql } from 'kysely'
import type { Migration } from './migration.ts'

export const addHeartbeats: Migration = {
  name: '0007-heartbeats',
  breaking: false,
  async up({ db, capabilities }) {
    const { integer, numbered, tableSuffix } = capabilities

    await db.schema
      .createTable('heartbeats')
      .addColumn('seq', integer, numbered)
      .addColumn('name', 'text', (column) => column.notNull().unique())
      .addColumn('every_seconds', integer, (column) => column.notNull())
      .addColumn('grace_seconds', integer, (column) => column.notNull())
      .addColumn('severity', 'text', (column) => column.notNull())
      .addColumn('source', 'text', (column) => column.notNull())
      .addColumn('created_by', 'text', (column) => column.notNull())
      .addColumn('created_at', integer, (column) => column.notNull())
      .addColumn('updated_by', 'text', (column) => column.notNull())
      .addColumn('updated_at', integer, (column) => column.notNull())
      .addColumn('last_beat_at', integer)
      .addColumn('counted_from', integer, (column) => column.notNull())
      .addColumn('due_at', integer, (column) => column.notNull())
      .addColumn('missed_at', integer)
      .modifyEnd(tableSuffix)
      .execute()
    await db.schema
      .createIndex('heartbeats_due')
      .on('heartbeats')
      .column('due_at')
      .where(sql.ref('missed_at'), 'is', null)
      .execute()

    await db.schema
      .createTable('heartbeat_checks')
      .addColumn('name', 'text', (column) => column.primaryKey().notNull())
      .addColumn('checked_at', integer, (column) => column.notNull())
      .modifyEnd(tableSuffix)
      .execute()
  },
}

export const telemetry: Migration = {
  name: '0008-telemetry',
  breaking: false,
  async up({ db, capabilities }) {
    const { integer, numbered, numberedAbove, tableSuffix } = capabilities

    await db.schema
      .createTable('telemetry_agents')
      .addColumn('seq', integer, numbered)
      .addColumn('agent_id', 'text', (column) => column.notNull().unique())
      .addColumn('first_at', integer, (column) => column.notNull())
      .addColumn('last_at', integer, (column) => column.notNull())
      .addColumn('items', integer, (column) => column.notNull())
      .addColumn('bucket_full_at', integer, (column) => column.notNull())
      .addColumn('last_item', 'text', (column) => column.notNull())
      .modifyEnd(tableSuffix)
      .execute()
    // The longest silent one first.
    await db.schema
      .createIndex('telemetry_agents_by_silence')
      .on('telemetry_agents')
      .column('last_at')
      .execute()

    // The content is the last column: the others are read without it.
    await db.schema
      .createTable('telemetry_uploads')
      .addColumn('seq', integer, numberedAbove)
      .addColumn('id', 'text', (column) => column.notNull())
      .addColumn('agent_id', 'text', (column) => column.notNull())
      .addColumn('items', integer, (column) => column.notNull())
      .addColumn('bytes', integer, (column) => column.notNull())
      .addColumn('sent', integer, (column) => column.notNull())
      .addColumn('accepted_at', integer, (column) => column.notNull())
      .addColumn('accepted_by', 'text', (column) => column.notNull())
      .addColumn('delivered_at', integer)
      .addColumn('content', 'text', (column) => column.notNull())
      .modifyEnd(tableSuffix)
      .execute()
    // Its first column is always null: otherwise SQLite reads the table in the order of seq, with all that is delivered.
    await db.schema
      .createIndex('telemetry_uploads_pending')
      .on('telemetry_uploads')
      .columns(['delivered_at', 'seq', 'agent_id'])
      .where('delivered_at', 'is', null)
      .execute()
    await db.schema
      .createIndex('telemetry_uploads_delivered')
      .on('telemetry_uploads')
      .column('delivered_at')
      .where('delivered_at', 'is not', null)
      .execute()

    await db.schema
      .createTable('telemetry_totals')
      .addColumn('pending_items', integer, (column) => column.notNull())
      .addColumn('pending_bytes', integer, (column) => column.notNull())
      .addColumn('agents', integer, (column) => column.notNull())
      .addColumn('removed_up_to', integer, (column) => column.notNull())
      .modifyEnd(tableSuffix)
      .execute()
    await db
      .insertInto('telemetry_totals')
      .values({ pending_items: 0, pending_bytes: 0, agents: 0, removed_up_to: 0 })
      .execute()
  },
}

export const events: Migration = {
  name: '0009-events',
  breaking: false,
  async up({ db, capabilities }) {
    const { integer, tableSuffix } = capabilities

    await db.schema
      .createTable('event_logs')
      .addColumn('name', 'text', (column) => column.primaryKey())
      .addColumn('removed_up_to', integer, (column) => column.notNull())
      .modifyEnd(tableSuffix)
      .execute()
    // Earlier releases did not record which messages they removed, so any of these may have been followed by one.
    await sql`
      insert into event_logs (name, removed_up_to)
      select 'messages', coalesce(max(seq), 0) from messages`.execute(db)
  },
}

/** The menus of the shop, at the top of the tree in this order (docs/specification.md, Menus). */
const SHOP_MENUS = [
  ['shop-home', 'Home', '/'],
  ['shop-categories', 'Categories', '/categories'],
  ['shop-products', 'Products', '/products'],
  ['shop-cart', 'Cart', '/cart'],
  ['shop-orders', 'Orders', '/orders'],
  ['shop-account', 'Account', '/account'],
] as const

export const addMenus: Migration = {
  name: '0010-menus',
  breaking: false,
  async up({ db, capabilities }, at) {
    const { integer, tableSuffix } = capabilities

    await db.schema
      .createTable('menus')
      .addColumn('id', 'text', (column) => column.primaryKey().notNull())
      .addColumn('title', 'text', (column) => column.notNull())
      .addColumn('parent_id', 'text', (column) => column.references('menus.id'))
      .addColumn('path', 'text')
      .addColumn('icon', 'text')
      .addColumn('position', integer, (column) => column.notNull())
      .addColumn('enabled', integer, (column) => column.notNull().check(sql`enabled in (0, 1)`))
      .addColumn('created_at', integer, (column) => column.notNull())
      .addColumn('updated_at', integer, (column) => column.notNull())
      .modifyEnd(tableSuffix)
      .execute()
    await db.schema.createIndex('menus_by_parent').on('menus').column('parent_id').execute()

    // One row. Every change locks it, so that changes of the tree run one after the other.
    await db.schema
      .createTable('menu_revisions')
      .addColumn('name', 'text', (column) => column.primaryKey().notNull())
      .addColumn('revision', integer, (column) => column.notNull())
      .addColumn('changed_by', 'text', (column) => column.notNull())
      .addColumn('changed_at', integer, (column) => column.notNull())
      .modifyEnd(tableSuffix)
      .execute()

    await sql`insert into menu_revisions (name, revision, changed_by, changed_at)
      values ('shop', 1, 'migration', ${at})`.execute(db)
    for (const [position, [id, title, path]] of SHOP_MENUS.entries()) {
      await sql`insert into menus (id, title, path, position, enabled, created_at, updated_at)
        values (${id}, ${title}, ${path}, ${position}, 1, ${at}, ${at})`.execute(db)
    }
  },
}
