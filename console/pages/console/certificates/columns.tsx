import { localDays, localTime } from '../../../i18n/local.ts'
import type { TableColumn } from '../../../parts/list/data-table.tsx'
import { StatusBadge } from '../../../parts/status-badge.tsx'
import { statusLabel } from './labels.ts'
import { certificateTone, type Certificate } from './model.ts'
import type { certificateWords } from './words.ts'

export function certificateColumns({
  fields,
}: ReturnType<typeof certificateWords>): readonly TableColumn<Certificate>[] {
  return [
    { key: 'name', title: fields.name, cell: ({ name }) => <bdi>{name}</bdi> },
    {
      key: 'status',
      title: fields.status,
      cell: (certificate) => (
        <StatusBadge tone={certificateTone(certificate)} label={statusLabel(certificate)} />
      ),
    },
    {
      key: 'days_left',
      title: fields.days_left,
      isNumeric: true,
      cell: ({ days_left }) => localDays(days_left),
    },
    {
      key: 'not_after',
      title: fields.not_after,
      isWideOnly: true,
      cell: ({ not_after }) => <time dateTime={not_after}>{localTime(not_after)}</time>,
    },
    {
      key: 'names',
      title: fields.names,
      isWideOnly: true,
      cell: ({ names }) => <bdi>{names.join(', ')}</bdi>,
    },
  ]
}
