import { sql } from 'kysely'
import type { Migration } from './migration.ts'

export const addApiTokens: Migration = {
  name: '0027-api-tokens',
  async up({ db, capabilities: { integer, numbered, tableSuffix } }) {
    await sql`
      create table api_tokens (
        seq ${numbered},
        id text not null unique,
        user_id text not null,
        name text not null,
        hash text not null unique,
        roles text,
        created_at ${integer} not null,
        expires_at ${integer} not null,
        last_used_at ${integer},
        last_used_from text
      ) ${tableSuffix}`.execute(db)
    await sql`create index api_tokens_by_user on api_tokens (user_id, seq)`.execute(db)
    await sql`
      create table ended_tokens (
        token_id text primary key,
        ended_at ${integer} not null,
        expires_at ${integer} not null
      ) ${tableSuffix}`.execute(db)
    await sql`create index ended_tokens_by_end on ended_tokens (ended_at)`.execute(db)
    await sql`create index ended_tokens_by_expiry on ended_tokens (expires_at)`.execute(db)
    await sql`alter table vpn_sessions add column token_id text`.execute(db)
    await sql`create index vpn_sessions_by_token on vpn_sessions (token_id)
      where token_id is not null`.execute(db)
  },
}
