import type { Migration } from './migration.ts'

/** Lists of alerts of one status or source, by severity; alerts_by_weight answers those of all. */
export const alertSeverities: Migration = {
  name: '0038-alert-severities',
  breaking: false,
  async up({ db }) {
    for (const column of ['status', 'source'])
      await db.schema
        .createIndex(`alerts_by_${column}_weight`)
        .on('alerts')
        .columns([column, 'weight', 'seq'])
        .execute()
  },
}
