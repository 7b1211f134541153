import { localSize, localTime } from '../../../i18n/local.ts'
import type { TableColumn } from '../../../parts/list/data-table.tsx'
import { StatusBadge } from '../../../parts/status-badge.tsx'
import { BACKUP_TONES, type DataBackup } from './model.ts'
import type { dataBackupWords } from './words.ts'

export function backupColumns({
  fields,
  statuses,
}: ReturnType<typeof dataBackupWords>): readonly TableColumn<DataBackup>[] {
  return [
    {
      key: 'created_at',
      title: fields.created_at,
      cell: ({ created_at }) => <time dateTime={created_at}>{localTime(created_at)}</time>,
    },
    {
      key: 'status',
      title: fields.status,
      cell: ({ status }) => <StatusBadge tone={BACKUP_TONES[status]} label={statuses[status]} />,
    },
    {
      key: 'size_bytes',
      title: fields.size_bytes,
      isNumeric: true,
      isWideOnly: true,
      cell: ({ size_bytes }) => localSize(size_bytes),
    },
    {
      key: 'note',
      title: fields.note,
      isWideOnly: true,
      isFromMedium: true,
      cell: ({ note }) => <bdi>{note}</bdi>,
    },
    {
      key: 'verified_at',
      title: fields.verified_at,
      isWideOnly: true,
      cell: ({ verified_at }) => localTime(verified_at),
    },
  ]
}
