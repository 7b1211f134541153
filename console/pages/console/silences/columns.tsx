import { localTime } from '../../../i18n/local.ts'
import type { TableColumn } from '../../../parts/list/data-table.tsx'
import { StatusBadge } from '../../../parts/status-badge.tsx'
import { userLabel } from '../user-names.ts'
import { matchersText } from './covering.ts'
import { SILENCE_TONES, type Silence } from './model.ts'
import type { silenceWords } from './words.ts'

export function silenceColumns(words: ReturnType<typeof silenceWords>): readonly TableColumn<Silence>[] {
  const { fields, states, matchers } = words
  return [
    { key: 'reason', title: fields.reason, cell: ({ reason }) => <bdi>{reason}</bdi> },
    {
      key: 'state',
      title: fields.state,
      cell: ({ state }) => <StatusBadge tone={SILENCE_TONES[state]} label={states[state]} />,
    },
    {
      key: 'matchers',
      title: matchers,
      isWideOnly: true,
      cell: (silence) => <bdi>{matchersText(silence)}</bdi>,
    },
    {
      key: 'created_by',
      title: words.createdBy,
      isWideOnly: true,
      cell: ({ created_by }) => <bdi>{userLabel(created_by)}</bdi>,
    },
    {
      key: 'ends_at',
      title: fields.ends_at,
      isFromMedium: true,
      cell: ({ ends_at }) => <time dateTime={ends_at}>{localTime(ends_at)}</time>,
    },
  ]
}
