import type { AnswerOf } from '../../../api/operations.ts'
import type { ListSource } from '../../../parts/list/use-list.ts'
import type { ResourceSource } from '../../../parts/resource/use-resource.ts'
import { call, live } from '../platform.ts'
import { BACKUP_FILTERS, backupIn, type DataBackup } from './model.ts'

const PAGE_LENGTH = 50
const PREFIX = 'data.backup.'

/** The data backups, newest first. */
export const backupList: ListSource<DataBackup> = {
  filters: BACKUP_FILTERS,
  live,
  prefix: PREFIX,
  read: (query, signal) => call('listDataBackups', { query: { ...query, limit: PAGE_LENGTH } }, signal),
  keyOf: ({ id }) => id,
  fromEvent: (event) => (event.subject === `${PREFIX}deleted` ? 'changed' : backupIn(event)),
}

// The most that the API answers at once, and more than a data directory has room for.
const MOST_BACKUPS = 1_000

/** All data backups, newest first. */
export const allBackups: ResourceSource<AnswerOf<'listDataBackups'>> = {
  live,
  prefix: PREFIX,
  read: (_, signal) => call('listDataBackups', { query: { limit: MOST_BACKUPS } }, signal),
  isAbout: () => true,
}

/** One data backup. */
export const backupResource: ResourceSource<DataBackup> = {
  live,
  prefix: PREFIX,
  read: (id, signal) => call('getDataBackup', { path: { id } }, signal),
  isAbout: (event, id) => backupIn(event)?.id === id,
}
