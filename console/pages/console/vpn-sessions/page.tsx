import { ObjectsPage } from '../../../parts/list/objects-page.tsx'
import { userLabel } from '../user-names.ts'
import { pathOf, type ViewProps } from '../view.ts'
import { vpnSessionColumns } from './columns.tsx'
import { VpnSessionDrawer } from './drawer.tsx'
import { vpnSessionList } from './source.ts'
import { VpnSummary } from './summary.tsx'
import { vpnSessionWords } from './words.ts'

const PATH = pathOf({ name: 'vpn-sessions' })

/** The sessions of the gateways: the pool, the list, and beside it the session that the address names. */
export function VpnSessionsPage({ id }: ViewProps) {
  const words = vpnSessionWords()
  return (
    <ObjectsPage
      path={PATH}
      source={vpnSessionList}
      words={words}
      labelOf={(name, value) =>
        name === 'user' ? userLabel(value) : words.states[value as keyof typeof words.states]
      }
      columns={vpnSessionColumns(words)}
      icon="tunnels"
      id={id}
      summary={<VpnSummary />}
      detail={({ item, onClose }) =>
        item && <VpnSessionDrawer key={item.id} shown={item} onClose={onClose} />
      }
    />
  )
}
