import { sql } from 'kysely'
import type { Migration } from './migration.ts'

/** The wildcard that would cover each name, so that a certificate with it replaces those of single names. */
export const certificateWildcards: Migration = {
  name: '0028-certificate-wildcards',
  async up({ db }) {
    await sql`alter table certificate_names add column wildcard text`.execute(db)
    // What is left of a DNS name without its first label begins with a dot; so does that of an IPv4 address.
    const rest = sql`ltrim(name, 'abcdefghijklmnopqrstuvwxyz0123456789_-')`
    await sql`update certificate_names set wildcard = '*' || ${rest}
      where ${rest} like '._%' and ltrim(name, '.0123456789') <> ''`.execute(db)
    await sql`create index certificate_names_by_wildcard on certificate_names (wildcard)
      where wildcard is not null`.execute(db)
    await sql`update certificates set replaced_by = (
        select other.id from certificates other
        where other.revoked_at is null and other.not_after > certificates.not_after
          and other.id in (
            select sharing.certificate_id from certificate_names own
            join certificate_names sharing on sharing.name in (own.name, own.wildcard)
            where own.certificate_id = certificates.id)
          and not exists (
            select 1 from certificate_names own
            where own.certificate_id = certificates.id and not exists (
              select 1 from certificate_names theirs
              where theirs.certificate_id = other.id and theirs.name in (own.name, own.wildcard)))
        order by other.not_after desc, other.seq desc limit 1)
      where id in (
        select own.certificate_id from certificate_names own
        join certificate_names covering on covering.name = own.wildcard)`.execute(db)
  },
}
