import { declaredAlarmId } from '../../kernel/alerts.ts'
import type { Job } from '../../kernel/job.ts'
import { HOUR } from '../../kernel/time.ts'
import { endCheck, isCheckDue } from '../../store/work/marks.ts'
import { DATA_BACKUP_ALERTS } from './model.ts'
import type { DataBackupDeps } from './service.ts'

const ALERT = {
  alarmId: declaredAlarmId(DATA_BACKUP_ALERTS, 'data.damaged'),
  source: 'platform.data',
  title: 'The database file is damaged',
} as const

const DAMAGED =
  'the database file is damaged: stop the platform and restore a backup; "platform doctor" names the last one'

/** Checks the pages of the database while a check is due, and raises and ends the alert; it stays due until they are sound. */
export function integrityJobs({
  store,
  alerts,
  logger,
  findDamage,
}: Pick<DataBackupDeps, 'store' | 'alerts' | 'logger' | 'findDamage'>): Job[] {
  if (!findDamage) return []
  const run = async (signal: AbortSignal) => {
    if (!(await isCheckDue(store.read))) return
    const damage = await findDamage(signal)
    if (damage === undefined) {
      await store.write(async (tx) => {
        await endCheck(tx)
        await alerts.recoverIfRaised(tx, { ...ALERT, body: 'A check has found no damage.' })
      })
      return logger.info({}, 'the database file was checked: it is undamaged')
    }
    // First: a damaged file may not take the alert.
    logger.error({ reason: damage }, DAMAGED)
    await store.write((tx) => alerts.raise(tx, { ...ALERT, body: damage, severity: 'CRITICAL' }))
  }
  return [{ name: 'database-check', everyMs: HOUR, run }]
}
