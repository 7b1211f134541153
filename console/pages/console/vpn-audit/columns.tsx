import { localTime } from '../../../i18n/local.ts'
import type { TableColumn } from '../../../parts/list/data-table.tsx'
import { StatusBadge } from '../../../parts/status-badge.tsx'
import { userLabel } from '../user-names.ts'
import { AUDIT_TONES, type AuditEntry } from './model.ts'
import { reasonText } from './reason.ts'
import type { vpnAuditWords } from './words.ts'

export function auditColumns({
  fields,
  events,
  unknown,
}: ReturnType<typeof vpnAuditWords>): readonly TableColumn<AuditEntry>[] {
  return [
    {
      key: 'user',
      title: fields.user_name,
      cell: ({ user_name, user_id }) => (
        <bdi>{user_name ?? (user_id === null ? unknown : userLabel(user_id))}</bdi>
      ),
    },
    {
      key: 'event',
      title: fields.event,
      cell: ({ event }) => <StatusBadge tone={AUDIT_TONES[event]} label={events[event]} />,
    },
    {
      key: 'remote_address',
      title: fields.remote_address,
      isWideOnly: true,
      cell: ({ remote_address }) => <bdi class="mono">{remote_address ?? '–'}</bdi>,
    },
    { key: 'gateway', title: fields.gateway, isWideOnly: true, cell: ({ gateway }) => <bdi>{gateway}</bdi> },
    {
      key: 'reason',
      title: fields.reason,
      isWideOnly: true,
      cell: (entry) => <bdi>{reasonText(entry, userLabel) ?? '–'}</bdi>,
    },
    {
      key: 'at',
      title: fields.at,
      isWideOnly: true,
      isFromMedium: true,
      cell: ({ at }) => <time dateTime={at}>{localTime(at)}</time>,
    },
  ]
}
