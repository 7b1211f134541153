import { localTime } from '../../../i18n/local.ts'
import { formatRtt } from '../../../parts/format.ts'
import type { TableColumn } from '../../../parts/list/data-table.tsx'
import type { VpnSession } from './model.ts'
import type { vpnSessionWords } from './words.ts'

export function vpnSessionColumns({
  fields,
}: ReturnType<typeof vpnSessionWords>): readonly TableColumn<VpnSession>[] {
  return [
    { key: 'user', title: fields.user_name, cell: ({ user }) => <bdi>{user.name}</bdi> },
    {
      key: 'virtual_ip',
      title: fields.virtual_ip,
      cell: ({ virtual_ip }) => <bdi class="mono">{virtual_ip}</bdi>,
    },
    {
      key: 'device',
      title: fields.device,
      isWideOnly: true,
      cell: ({ device }) => <bdi>{device ?? '–'}</bdi>,
    },
    { key: 'gateway', title: fields.gateway, isWideOnly: true, cell: ({ gateway }) => <bdi>{gateway}</bdi> },
    {
      key: 'rtt_ms',
      title: fields.rtt_ms,
      isNumeric: true,
      isWideOnly: true,
      cell: ({ rtt_ms }) => formatRtt(rtt_ms),
    },
    {
      key: 'connected_at',
      title: fields.connected_at,
      isWideOnly: true,
      cell: ({ connected_at }) => <time dateTime={connected_at}>{localTime(connected_at)}</time>,
    },
  ]
}
