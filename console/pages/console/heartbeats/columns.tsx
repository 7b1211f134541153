import { localTime } from '../../../i18n/local.ts'
import type { TableColumn } from '../../../parts/list/data-table.tsx'
import { StatusBadge } from '../../../parts/status-badge.tsx'
import { HEARTBEAT_TONES, type Heartbeat } from './model.ts'
import type { heartbeatWords } from './words.ts'

export function heartbeatColumns(
  words: ReturnType<typeof heartbeatWords>,
): readonly TableColumn<Heartbeat>[] {
  const { fields, statuses, never } = words
  return [
    { key: 'name', title: fields.name, cell: ({ name }) => <bdi class="mono">{name}</bdi> },
    {
      key: 'status',
      title: fields.status,
      cell: ({ status }) => <StatusBadge tone={HEARTBEAT_TONES[status]} label={statuses[status]} />,
    },
    {
      key: 'last_beat_at',
      title: fields.last_beat_at,
      isWideOnly: true,
      cell: ({ last_beat_at }) => (last_beat_at === null ? never : localTime(last_beat_at)),
    },
    { key: 'due_at', title: fields.due_at, isWideOnly: true, cell: ({ due_at }) => localTime(due_at) },
  ]
}
