/** docs/specification.md, Events */
export const DATA_BACKUP_EVENTS = {
  started: 'data.backup.started',
  completed: 'data.backup.completed',
  failed: 'data.backup.failed',
  deleted: 'data.backup.deleted',
} as const
