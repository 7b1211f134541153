import type { Migration } from './migration.ts'

/** Silences that repeat or match labels, and the labels of alerts; null in the rows of older programs. */
export const addSilencesAndLabels: Migration = {
  name: '0034-silences-and-labels',
  breaking: false,
  async up({ db, capabilities: { integer } }) {
    const columns = [
      ['repeat', 'text'],
      ['window_starts_at', integer],
      ['window_ends_at', integer],
      ['label_matchers', 'text'],
    ] as const
    for (const [name, type] of columns)
      await db.schema.alterTable('alert_silences').addColumn(name, type).execute()
    await db.schema.alterTable('alerts').addColumn('labels', 'text').execute()
  },
}
