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
  async up({ db, capabilities }, at) {
    const { integer, tableSuffix } = capabilities

    await sql`
      create table menus (
        id text not null primary key,
        title text not null,
        parent_id text references menus (id),
        path text,
        icon text,
        position ${integer} not null,
        enabled ${integer} not null check (enabled in (0, 1)),
        created_at ${integer} not null,
        updated_at ${integer} not null
      ) ${tableSuffix}`.execute(db)
    await sql`create index menus_by_parent on menus (parent_id)`.execute(db)

    // One row. Every change locks it, so that changes of the tree run one after the other.
    await sql`
      create table menu_revisions (
        name text not null primary key,
        revision ${integer} not null,
        changed_by text not null,
        changed_at ${integer} not null
      ) ${tableSuffix}`.execute(db)

    await sql`insert into menu_revisions (name, revision, changed_by, changed_at)
      values ('shop', 1, 'migration', ${at})`.execute(db)
    for (const [position, [id, title, path]] of SHOP_MENUS.entries()) {
      await sql`insert into menus (id, title, path, position, enabled, created_at, updated_at)
        values (${id}, ${title}, ${path}, ${position}, 1, ${at}, ${at})`.execute(db)
    }
  },
}
