import { localNumber, localTime } from '../../../i18n/local.ts'
import type { TableColumn } from '../../../parts/list/data-table.tsx'
import { StatusBadge } from '../../../parts/status-badge.tsx'
import { ALERT_TONES, SEVERITY_TONES, type Alert } from './model.ts'
import type { alertWords } from './words.ts'

export function alertColumns(words: ReturnType<typeof alertWords>): readonly TableColumn<Alert>[] {
  const { fields, statuses, severities } = words
  return [
    { key: 'title', title: fields.title, cell: ({ title }) => <bdi>{title}</bdi> },
    {
      key: 'severity',
      title: fields.severity,
      cell: ({ severity }) => <StatusBadge tone={SEVERITY_TONES[severity]} label={severities[severity]} />,
    },
    {
      key: 'status',
      title: fields.status,
      isWideOnly: true,
      cell: ({ status }) => <StatusBadge tone={ALERT_TONES[status]} label={statuses[status]} />,
    },
    { key: 'source', title: fields.source, isWideOnly: true, cell: ({ source }) => <bdi>{source}</bdi> },
    {
      key: 'count',
      title: fields.count,
      isNumeric: true,
      isWideOnly: true,
      cell: ({ count }) => localNumber(count),
    },
    {
      key: 'last_at',
      title: fields.last_at,
      isWideOnly: true,
      cell: ({ last_at }) => <time dateTime={last_at}>{localTime(last_at)}</time>,
    },
  ]
}
