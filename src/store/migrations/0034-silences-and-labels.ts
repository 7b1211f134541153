import { sql } from 'kysely'
import type { Migration } from './migration.ts'

/** Silences that repeat or match labels, and the labels of alerts; null in the rows of older programs. */
export const addSilencesAndLabels: Migration = {
  name: '0034-silences-and-labels',
  async up({ db, capabilities: { integer } }) {
    await sql`alter table alert_silences add column repeat text`.execute(db)
    await sql`alter table alert_silences add column window_starts_at ${integer}`.execute(db)
    await sql`alter table alert_silences add column window_ends_at ${integer}`.execute(db)
    await sql`alter table alert_silences add column label_matchers text`.execute(db)
    await sql`alter table alerts add column labels text`.execute(db)
  },
}
