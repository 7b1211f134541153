import { sql } from 'kysely'
import type { Migration } from './migration.ts'

export const vpn: Migration = {
  name: '0002-vpn',
  async up({ db, capabilities }) {
    const { integer, numberedAbove, tableSuffix } = capabilities

    await sql`
      create table vpn_gateways (
        run_id text primary key,
        name text not null,
        address text not null,
        heartbeat_ms ${integer} not null,
        started_at ${integer} not null,
        last_seen_at ${integer} not null,
        left_at ${integer}
      ) ${tableSuffix}`.execute(db)
    await sql`create index vpn_gateways_by_name on vpn_gateways (name, started_at)`.execute(db)

    await sql`
      create table vpn_pools (
        cidr text primary key,
        next_address ${integer} not null,
        alerted_percent ${integer} not null
      ) ${tableSuffix}`.execute(db)

    await sql`
      create table vpn_leases (
        address ${integer} primary key,
        pool text not null,
        session_id text,
        user_id text,
        device text,
        released_at ${integer} not null
      ) ${tableSuffix}`.execute(db)
    // The first entry is the next address to assign, however many there are.
    await sql`create index vpn_leases_free on vpn_leases (pool, released_at, address)
      where session_id is null`.execute(db)
    await sql`create index vpn_leases_remembered on vpn_leases (user_id, device)
      where device is not null`.execute(db)

    await sql`
      create table vpn_sessions (
        seq ${numberedAbove},
        id text not null unique,
        user_id text not null,
        user_name text not null,
        device text,
        address ${integer} not null,
        gateway text not null,
        run_id text not null,
        remote_address text not null,
        connected_at ${integer} not null,
        last_seen_at ${integer} not null,
        rtt_us ${integer},
        closed_at ${integer},
        close_code ${integer},
        close_reason text,
        untold ${integer}
      ) ${tableSuffix}`.execute(db)
    // Two invariants that must survive any crash: one live session for an address, and one for a device of a user.
    await sql`create unique index vpn_sessions_address on vpn_sessions (address)
      where closed_at is null`.execute(db)
    await sql`create unique index vpn_sessions_device on vpn_sessions (user_id, device)
      where closed_at is null`.execute(db)
    await sql`create index vpn_sessions_of_run on vpn_sessions (run_id, seq)
      where closed_at is null`.execute(db)
    await sql`create index vpn_sessions_open on vpn_sessions (seq) where closed_at is null`.execute(db)
    await sql`create index vpn_sessions_closed on vpn_sessions (closed_at)
      where closed_at is not null`.execute(db)
    await sql`create index vpn_sessions_by_user on vpn_sessions (user_id, seq)`.execute(db)
    // Every gateway reads it twice a second, and it is nearly always empty.
    await sql`create index vpn_sessions_untold on vpn_sessions (run_id, seq) where untold = 1`.execute(db)

    await sql`
      create table vpn_audit (
        seq ${numberedAbove},
        id text not null,
        at ${integer} not null,
        event text not null check (event in ('session_registered', 'session_closed', 'auth_failed')),
        session_id text,
        user_id text,
        gateway text not null,
        remote_address text,
        reason text
      ) ${tableSuffix}`.execute(db)
    await sql`create index vpn_audit_by_user on vpn_audit (user_id, seq)`.execute(db)
    // The few events that a query selects; the others are most of the table.
    await sql`create index vpn_audit_auth_failed on vpn_audit (event, seq)
      where event = 'auth_failed'`.execute(db)
  },
}
