import { localNumber, localTime } from '../../../i18n/local.ts'
import type { TableColumn } from '../../../parts/list/data-table.tsx'
import { StatusBadge } from '../../../parts/status-badge.tsx'
import { valueLabel } from './labels.ts'
import { LEVEL_TONES, TICKET_TONES, type Ticket } from './model.ts'
import type { ticketWords } from './words.ts'

export function ticketColumns(words: ReturnType<typeof ticketWords>): readonly TableColumn<Ticket>[] {
  const { fields, levels, statuses } = words
  return [
    { key: 'title', title: fields.title, cell: ({ title }) => <bdi>{title}</bdi> },
    {
      key: 'level',
      title: fields.level,
      cell: ({ level }) => <StatusBadge tone={LEVEL_TONES[level]} label={levels[level]} />,
    },
    {
      key: 'status',
      title: fields.status,
      isFromMedium: true,
      cell: ({ status }) => <StatusBadge tone={TICKET_TONES[status]} label={statuses[status]} />,
    },
    {
      key: 'assignee',
      title: fields.assignee,
      isWideOnly: true,
      cell: ({ assignee }) => <bdi>{valueLabel('assignee', assignee)}</bdi>,
    },
    {
      key: 'comment_count',
      title: fields.comment_count,
      isNumeric: true,
      isWideOnly: true,
      cell: ({ comment_count }) => localNumber(comment_count),
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
