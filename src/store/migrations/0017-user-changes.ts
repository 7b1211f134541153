import { randomInt } from 'node:crypto'
import { sql } from 'kysely'
import type { Migration } from './migration.ts'

// Below it lies room for every later revision: numbers up to 2^53 are exact.
const HIGHEST_START = 2 ** 40

export const addUserChanges: Migration = {
  name: '0017-user-changes',
  breaking: false,
  async up({ db, capabilities }) {
    const { integer, tableSuffix } = capabilities
    await db.schema
      .createTable('user_changes')
      .addColumn('revision', integer, (column) => column.primaryKey())
      .addColumn('user_id', 'text', (column) => column.notNull())
      .addColumn('name', 'text', (column) => column.notNull())
      .modifyEnd(tableSuffix)
      .execute()
    await db.schema
      .createIndex('user_changes_by_user')
      .on('user_changes')
      .columns(['user_id', 'revision'])
      .execute()
    await db.schema
      .createTable('user_revisions')
      .addColumn('name', 'text', (column) => column.primaryKey())
      .addColumn('revision', integer, (column) => column.notNull())
      .modifyEnd(tableSuffix)
      .execute()
    await db.schema
      .createTable('user_mirrors')
      .addColumn('name', 'text', (column) => column.primaryKey())
      .addColumn('source', 'text')
      .addColumn('revision', integer)
      .addColumn('confirmed_at', integer)
      .addColumn('pool', 'text')
      .modifyEnd(tableSuffix)
      .execute()

    // Random, so that the revisions of two databases differ.
    const start = randomInt(1, HIGHEST_START)
    await sql`insert into user_changes (revision, user_id, name)
      select cast(${start} as bigint) + seq, id, name from users`.execute(db)
    await sql`insert into user_revisions (name, revision)
      select 'users', cast(${start} as bigint) + coalesce(max(seq), 0) from users`.execute(db)
    await sql`insert into user_mirrors (name) values ('primary')`.execute(db)
  },
}
