import { sql } from 'kysely'
import { newId } from '../../kernel/ids.ts'
import type { Tx } from '../../store/store.ts'
import { db } from './notifications/tables.ts'
import { SETTLE_MS } from './silences/model.ts'

/** Tables of due times of alerts; an older schema does not have them. */
export const DUE_TABLES = ['alert_episodes', 'alert_dampings'] as const

const REASON = 'The database was restored from a backup.'

/**
 * Drops the notifications that a restored database was to send: the database that was backed up has sent them. A silence of
 * all alerts that ends with the restoration makes the next start compare what fires with what was told. Names the columns of
 * the first schema that has these tables.
 */
export async function restoreNotifications(
  tx: Tx,
  now: number,
  withDue: readonly (typeof DUE_TABLES)[number][],
): Promise<void> {
  const notifications = db(tx)
  await notifications
    .updateTable('alert_notifications')
    .set({ outcome: 'superseded', reason: REASON, content: null, message_id: null })
    .where('outcome', '=', 'pending')
    .execute()
  await notifications.deleteFrom('alert_messages').execute()
  for (const table of withDue) await notifications.deleteFrom(table).execute()
  await sql`
    insert into alert_silences (id, matchers, reason, starts_at, ends_at, created_by, created_at, due_at)
    values (${newId()}, ${JSON.stringify({ source: '*' })}, ${REASON}, ${now - 1}, ${now}, 'command-line', ${now},
      ${now + SETTLE_MS})`.execute(notifications)
}
