import { eventObject } from '../../../api/event-stream.ts'
import type { AnswerOf } from '../../../api/operations.ts'
import type { ListFilter } from '../../../parts/list/list-query.ts'
import type { Tone } from '../../../parts/status-badge.tsx'

export type DataBackup = AnswerOf<'getDataBackup'>

export const BACKUP_TONES: Readonly<Record<DataBackup['status'], Tone>> = {
  running: 'active',
  completed: 'good',
  failed: 'danger',
}

export const BACKUP_FILTERS: readonly ListFilter[] = [{ name: 'created', kind: 'period' }]

/**
 * How many of these backups are deleted when `keep` completed ones stay (docs/specification.md, Data backups). The newest
 * comes first.
 */
export function countPruned(
  backups: readonly Pick<DataBackup, 'status' | 'verified_at'>[],
  keep: number,
): number {
  const completed = backups.filter(({ status }) => status === 'completed')
  const newestVerified = completed.find(({ verified_at }) => verified_at !== null)
  return completed.slice(keep).filter((backup) => backup !== newestVerified).length
}

/** The backup that an event is about. */
export const backupIn = eventObject('DataBackup')
