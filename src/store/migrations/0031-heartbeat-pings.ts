import { sql } from 'kysely'
import type { Migration } from './migration.ts'

export const addHeartbeatPings: Migration = {
  name: '0031-heartbeat-pings',
  async up({ db, capabilities: { integer, numbered, tableSuffix } }) {
    await sql`alter table heartbeats add column ping_hash text`.execute(db)
    await sql`alter table heartbeats add column schedule text`.execute(db)
    await sql`alter table heartbeats add column time_zone text`.execute(db)
    await sql`alter table heartbeats add column max_run_seconds ${integer}`.execute(db)
    await sql`alter table heartbeats add column started_at ${integer}`.execute(db)
    await sql`alter table heartbeats add column duration_seconds ${integer}`.execute(db)
    await sql`create unique index heartbeats_by_ping_hash on heartbeats (ping_hash)
      where ping_hash is not null`.execute(db)
    await sql`
      create table heartbeat_pings (
        seq ${numbered},
        heartbeat text not null,
        at ${integer} not null,
        kind text not null,
        exit_code ${integer},
        duration_seconds ${integer},
        remote_address text,
        body text not null
      ) ${tableSuffix}`.execute(db)
    await sql`create index heartbeat_pings_by_heartbeat on heartbeat_pings (heartbeat, seq)`.execute(db)
  },
}
