import { listOf, resourceOf } from '../sources.ts'
import { BACKUP_FILTERS, backupIn } from './model.ts'

const PREFIX = 'data.backup.'

/** The data backups, newest first. */
export const backupList = listOf('listDataBackups', PREFIX, {
  filters: BACKUP_FILTERS,
  keyOf: ({ id }) => id,
  fromEvent: (event) => (event.subject === `${PREFIX}deleted` ? 'changed' : backupIn(event)),
})

// The most that the API answers at once, and more than a data directory has room for.
const MOST_BACKUPS = 1_000

/** All data backups, newest first. */
export const allBackups = resourceOf('listDataBackups', PREFIX, () => ({ query: { limit: MOST_BACKUPS } }))

/** One data backup. */
export const backupResource = resourceOf('getDataBackup', PREFIX, (id) => ({ path: { id } }), {
  isAbout: (event, id) => backupIn(event)?.id === id,
})
