import { localTime } from '../../../i18n/local.ts'
import type { TableColumn } from '../../../parts/list/data-table.tsx'
import { StatusBadge } from '../../../parts/status-badge.tsx'
import { userLabel } from '../user-names.ts'
import { commandTitle, EXECUTION_TONES, paramsText, type Execution } from './model.ts'
import type { executionWords } from './words.ts'

export function executionColumns({
  fields,
  statuses,
}: ReturnType<typeof executionWords>): readonly TableColumn<Execution>[] {
  return [
    {
      key: 'command_id',
      title: fields.command_id,
      cell: (execution) => <bdi>{commandTitle(execution)}</bdi>,
    },
    {
      key: 'status',
      title: fields.status,
      cell: ({ status }) => <StatusBadge tone={EXECUTION_TONES[status]} label={statuses[status]} />,
    },
    {
      key: 'requested_by',
      title: fields.requested_by,
      isWideOnly: true,
      cell: ({ requested_by }) => <bdi>{userLabel(requested_by)}</bdi>,
    },
    {
      key: 'params',
      title: fields.params,
      isFromMedium: true,
      cell: ({ params }) => <bdi class="mono">{paramsText(params)}</bdi>,
    },
    { key: 'reason', title: fields.reason, isWideOnly: true, cell: ({ reason }) => <bdi>{reason}</bdi> },
    {
      key: 'created_at',
      title: fields.created_at,
      isFromMedium: true,
      cell: ({ created_at }) => <time dateTime={created_at}>{localTime(created_at)}</time>,
    },
  ]
}
