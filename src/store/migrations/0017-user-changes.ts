import { randomInt } from 'node:crypto'
import { sql } from 'kysely'
import type { Migration } from './migration.ts'

// Below it lies room for every later revision: numbers up to 2^53 are exact.
const HIGHEST_START = 2 ** 40

export const addUserChanges: Migration = {
  name: '0017-user-changes',
  async up({ db, capabilities }) {
    const { integer, tableSuffix } = capabilities
    await sql`
      create table user_changes (
        revision ${integer} primary key,
        user_id text not null,
        name text not null
      ) ${tableSuffix}`.execute(db)
    await sql`create index user_changes_by_user on user_changes (user_id, revision)`.execute(db)
    await sql`
      create table user_revisions (
        name text primary key,
        revision ${integer} not null
      ) ${tableSuffix}`.execute(db)
    await sql`
      create table user_mirrors (
        name text primary key,
        source text,
        revision ${integer},
        confirmed_at ${integer},
        pool text
      ) ${tableSuffix}`.execute(db)

    // Random, so that the revisions of two databases differ.
    const start = randomInt(1, HIGHEST_START)
    await sql`insert into user_changes (revision, user_id, name)
      select cast(${start} as bigint) + seq, id, name from users`.execute(db)
    await sql`insert into user_revisions (name, revision)
      select 'users', cast(${start} as bigint) + coalesce(max(seq), 0) from users`.execute(db)
    await sql`insert into user_mirrors (name) values ('primary')`.execute(db)
  },
}
