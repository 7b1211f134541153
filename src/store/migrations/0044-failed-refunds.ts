import { sql } from 'kysely'
import type { Migration } from './migration.ts'

/** Whether a payment needs a person because a refund of it has failed; its history has it of the rows that are there. */
export const failedRefunds: Migration = {
  name: '0044-failed-refunds',
  async up({ db, capabilities: { integer } }) {
    await sql`alter table payments add column has_failed_refund ${integer} not null default 0`.execute(db)
    await sql`update payments set has_failed_refund = 1
      where refunded_cents <> coalesce(paid_cents, amount_cents) and id in (
        select failed.payment_id from payment_history failed
        where failed.change in ('refund_failed', 'refund_unclear') and not exists (
          select 1 from payment_history resolved
          where resolved.payment_id = failed.payment_id and resolved.change = 'resolved' and resolved.seq > failed.seq))`.execute(
      db,
    )
    await sql`drop index payments_with_attention`.execute(db)
    await sql`create index payments_need_person on payments (seq)
      where (attention is not null or has_failed_refund = 1)`.execute(db)
  },
}
