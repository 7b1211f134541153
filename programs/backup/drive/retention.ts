/** How many of the newest backups stay on the drive: of the last days, weeks and months that have one. */
export interface Retention {
  readonly daily: number
  readonly weekly: number
  readonly monthly: number
}

interface DatedBackup {
  readonly backupId: string
  readonly day: string
  readonly week: string
  readonly month: string
}

const BACKUP_ID = /^(\d{4})(\d{2})(\d{2})-\d{6}$/

/**
 * The backups that no rule keeps, oldest first. For each day, week (from Monday) and month the newest backup counts. The
 * newest verified one always stays, and so does every name that is not a backup's.
 */
export function expiredBackups(
  backupIds: readonly string[],
  keep: Retention,
  newestVerified: string | undefined,
): string[] {
  const backups = backupIds.flatMap(toDatedBackup).toSorted((a, b) => (a.backupId < b.backupId ? 1 : -1))
  const kept = new Set([
    newestVerified,
    ...newestOf(backups, ({ day }) => day, keep.daily),
    ...newestOf(backups, ({ week }) => week, keep.weekly),
    ...newestOf(backups, ({ month }) => month, keep.monthly),
  ])
  return backups
    .map(({ backupId }) => backupId)
    .filter((backupId) => !kept.has(backupId))
    .toReversed()
}

/** The newest backup of each of the newest periods; `backups` are sorted, newest first. */
function newestOf(
  backups: readonly DatedBackup[],
  period: (backup: DatedBackup) => string,
  count: number,
): string[] {
  const newest = new Map<string, string>()
  for (const backup of backups) if (!newest.has(period(backup))) newest.set(period(backup), backup.backupId)
  return [...newest.values()].slice(0, count)
}

function toDatedBackup(backupId: string): DatedBackup[] {
  const [, year = '', month = '', day = ''] = BACKUP_ID.exec(backupId) ?? []
  const date = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day)))
  if (year === '') return []
  const monday = new Date(date)
  monday.setUTCDate(date.getUTCDate() - ((date.getUTCDay() + 6) % 7))
  return [{ backupId, day: year + month + day, week: monday.toISOString().slice(0, 10), month: year + month }]
}
