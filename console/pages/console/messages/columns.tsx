import { localNumber, localTime } from '../../../i18n/local.ts'
import type { TableColumn } from '../../../parts/list/data-table.tsx'
import { StatusBadge } from '../../../parts/status-badge.tsx'
import { MESSAGE_TONES, type Message } from './model.ts'
import type { messageWords } from './words.ts'

export function messageColumns({
  fields,
  statuses,
}: ReturnType<typeof messageWords>): readonly TableColumn<Message>[] {
  return [
    { key: 'subject', title: fields.subject, cell: ({ subject }) => <bdi class="mono">{subject}</bdi> },
    {
      key: 'status',
      title: fields.status,
      cell: ({ status }) => <StatusBadge tone={MESSAGE_TONES[status]} label={statuses[status]} />,
    },
    {
      key: 'attempts',
      title: fields.attempts,
      isNumeric: true,
      isWideOnly: true,
      cell: ({ attempts }) => localNumber(attempts),
    },
    {
      key: 'last_error',
      title: fields.last_error,
      isWideOnly: true,
      cell: ({ last_error }) => <bdi>{last_error ?? '–'}</bdi>,
    },
    {
      key: 'created_at',
      title: fields.created_at,
      isWideOnly: true,
      isFromMedium: true,
      cell: ({ created_at }) => <time dateTime={created_at}>{localTime(created_at)}</time>,
    },
  ]
}
