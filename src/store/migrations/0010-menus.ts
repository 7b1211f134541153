import { sql } from 'kysely'
import type { Migration } from './migration.ts'

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
