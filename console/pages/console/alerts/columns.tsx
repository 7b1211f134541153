import { localNumber, localTime } from '../../../i18n/local.ts'
import type { TableColumn } from '../../../parts/list/data-table.tsx'
import { Icon } from '../../../parts/icon.tsx'
import { StatusBadge } from '../../../parts/status-badge.tsx'
import { ALERT_TONES, SEVERITY_TONES, type Alert, type SilenceFor } from './model.ts'
import { SilenceLink } from './silence-link.tsx'
import type { alertWords } from './words.ts'

export function alertColumns(
  words: ReturnType<typeof alertWords>,
  silenceFor: SilenceFor,
): readonly TableColumn<Alert>[] {
  const { fields, statuses, severities, silenced } = words
  return [
    {
      key: 'title',
      title: fields.title,
      cell: (alert) => (
        <>
          {silenceFor(alert) && (
            <span class="narrow-mark">
              <Icon name="mute" />
              <span class="visually-hidden">{silenced} </span>
            </span>
          )}
          <bdi>{alert.title}</bdi>
        </>
      ),
    },
    {
      key: 'severity',
      title: fields.severity,
      cell: ({ severity }) => <StatusBadge tone={SEVERITY_TONES[severity]} label={severities[severity]} />,
    },
    {
      key: 'status',
      title: fields.status,
      isFromMedium: true,
      cell: (alert) => (
        <>
          <StatusBadge tone={ALERT_TONES[alert.status]} label={statuses[alert.status]} />
          <SilenceLink silence={silenceFor(alert)} />
        </>
      ),
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
      isFromMedium: true,
      cell: ({ last_at }) => <time dateTime={last_at}>{localTime(last_at)}</time>,
    },
  ]
}
