import { serverClock } from '../../../api/browser.ts'
import { localNumber, localTime } from '../../../i18n/local.ts'
import type { TableColumn } from '../../../parts/list/data-table.tsx'
import { StatusBadge } from '../../../parts/status-badge.tsx'
import type { Agent } from './model.ts'
import { isSilent } from './silent.ts'
import type { telemetryWords } from './words.ts'

export function agentColumns({
  fields,
  silent,
}: ReturnType<typeof telemetryWords>): readonly TableColumn<Agent>[] {
  return [
    { key: 'agent_id', title: fields.agent_id, cell: ({ agent_id }) => <bdi class="mono">{agent_id}</bdi> },
    {
      key: 'last_at',
      title: fields.last_at,
      cell: (agent) => (
        <>
          <time dateTime={agent.last_at}>{localTime(agent.last_at)}</time>{' '}
          {isSilent(agent, serverClock.now()) && <StatusBadge tone="warning" label={silent} />}
        </>
      ),
    },
    {
      key: 'items',
      title: fields.items,
      isNumeric: true,
      isWideOnly: true,
      cell: ({ items }) => localNumber(items),
    },
    {
      key: 'first_at',
      title: fields.first_at,
      isWideOnly: true,
      cell: ({ first_at }) => <time dateTime={first_at}>{localTime(first_at)}</time>,
    },
  ]
}
