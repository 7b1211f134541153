import { sql } from 'kysely'
import { DAY } from '../../kernel/time.ts'
import type { Migration } from './migration.ts'

/** Alerts that are told again while they fire, and an end for those that had none. */
export const alertRepetitions: Migration = {
  name: '0024-alert-repetitions',
  async up({ db, capabilities: { integer } }, now) {
    await sql`alter table alerts add column repeat_every_ms ${integer}`.execute(db)
    await sql`alter table alerts add column repeat_at ${integer}`.execute(db)
    await sql`alter table alert_groups add column is_truncated ${integer} not null default 0`.execute(db)
    const next = now + DAY
    await sql`update alerts set repeat_every_ms = ${DAY}
      where weight > 0 and (alarm_id like 'message.dead:%' or alarm_id like 'command.%:%'
        or alarm_id like 'heartbeat.missed:%' or alarm_id like 'certificate.file:%'
        or alarm_id in ('telemetry.refused', 'data.backup.failed', 'backup.failed.critical',
          'system.selfcheck.failed', 'system.reboot.init', 'system.reboot.blocked'))`.execute(db)
    // One that is acknowledged or frozen is told again after that.
    await sql`update alerts set repeat_at = ${next}, due_at = case when due_at < ${next} then due_at else ${next} end
      where status = 'firing' and repeat_every_ms is not null`.execute(db)
    // What would end these has happened already, or cannot happen any more.
    await sql`update alerts set expires_at = ${now}, due_at = ${now}
      where weight > 0 and ((alarm_id like 'message.dead:%' and alarm_id not in
          (select 'message.dead:' || id from messages where status = 'dead'))
        or (alarm_id like 'command.incomplete:%' and alarm_id not in
          (select 'command.incomplete:' || id from command_executions)))`.execute(db)
    // There may be one for each order that has ever expired, and nobody waits for a message about each of their ends.
    await sql`delete from alert_told where alert_id in
      (select id from alerts where weight > 0 and alarm_id like 'order.timeout:%')`.execute(db)
    await sql`update alerts set expires_at = last_at + ${DAY},
        due_at = case when due_at < last_at + ${DAY} then due_at else last_at + ${DAY} end
      where weight > 0 and alarm_id like 'order.timeout:%'`.execute(db)
  },
}
