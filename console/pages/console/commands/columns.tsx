import { localSeconds } from '../../../i18n/local.ts'
import type { TableColumn } from '../../../parts/list/data-table.tsx'
import type { Command } from './model.ts'
import type { commandWords } from './words.ts'

export function commandColumns(words: ReturnType<typeof commandWords>): readonly TableColumn<Command>[] {
  const { fields, approvals } = words
  return [
    { key: 'title', title: fields.title, cell: ({ title }) => <bdi>{title}</bdi> },
    { key: 'id', title: fields.id, isWideOnly: true, cell: ({ id }) => <bdi class="mono">{id}</bdi> },
    { key: 'approval', title: fields.approval, cell: ({ approval }) => approvals[approval] },
    {
      key: 'timeout_seconds',
      title: fields.timeout_seconds,
      isNumeric: true,
      isWideOnly: true,
      cell: ({ timeout_seconds }) => localSeconds(timeout_seconds),
    },
  ]
}
