import { sql } from 'kysely'
import type { Migration } from './migration.ts'

export const vpnHolders: Migration = {
  name: '0003-vpn-holders',
  async up({ db }) {
    // Entries of earlier releases keep null.
    await sql`alter table vpn_audit add column user_name text`.execute(db)
    await sql`alter table vpn_audit add column device text`.execute(db)
    await sql`alter table vpn_audit add column virtual_ip text`.execute(db)
    // How many addresses of a pool are held, without reading the free ones.
    await sql`create index vpn_leases_held on vpn_leases (address) where session_id is not null`.execute(db)
    // How many live sessions a user has, without reading the closed ones.
    await sql`create index vpn_sessions_live_of_user on vpn_sessions (user_id, closed_at)
      where closed_at is null`.execute(db)
  },
}
