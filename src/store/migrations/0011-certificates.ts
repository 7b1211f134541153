import { sql } from 'kysely'
import type { Migration } from './migration.ts'

export const addCertificates: Migration = {
  name: '0011-certificates',
  async up({ db, capabilities }) {
    const { integer, numbered, tableSuffix } = capabilities

    await sql`
      create table certificates (
        seq ${numbered},
        id text not null unique,
        name text not null,
        fingerprint_sha256 text not null unique,
        serial text not null,
        subject text not null,
        issuer text not null,
        names text not null,
        not_before ${integer} not null,
        not_after ${integer} not null,
        key text not null,
        signature text not null,
        is_ca ${integer} not null,
        chain text not null,
        warnings text not null,
        ends_at ${integer} not null,
        expires_first text not null,
        replaced_by text,
        revoked_at ${integer},
        revoked_by text,
        revoke_reason text,
        created_by text not null,
        created_at ${integer} not null,
        file_sha256 text not null,
        reported_step ${integer},
        alert_step ${integer},
        has_file_alert ${integer} not null
      ) ${tableSuffix}`.execute(db)
    await sql`create index certificates_by_end on certificates (not_after, seq)`.execute(db)

    await sql`
      create table certificate_names (
        name text not null,
        certificate_id text not null,
        constraint certificate_names_key primary key (name, certificate_id)
      ) ${tableSuffix}`.execute(db)
    await sql`create index certificate_names_of_certificate on certificate_names (certificate_id)`.execute(db)

    await sql`
      create table certificate_file_claims (
        fingerprint_sha256 text not null primary key,
        content text not null,
        claimed_until ${integer} not null
      ) ${tableSuffix}`.execute(db)

    await sql`create table certificate_locks (name text not null primary key) ${tableSuffix}`.execute(db)
    await db.insertInto('certificate_locks').values({ name: 'replacements' }).execute()
  },
}
