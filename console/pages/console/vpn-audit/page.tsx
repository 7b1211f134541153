import { ObjectsPage } from '../../../parts/list/objects-page.tsx'
import { userLabel } from '../user-names.ts'
import { pathOf, type ViewProps } from '../view.ts'
import { auditColumns } from './columns.tsx'
import { AuditDrawer } from './drawer.tsx'
import { auditList, type AuditEntry } from './model.ts'
import { vpnAuditWords } from './words.ts'

const PATH = pathOf({ name: 'vpn-audit' })

/** The audit trail of the gateways: the list, and beside it the entry that the address names. */
export function VpnAuditPage({ id }: ViewProps) {
  const words = vpnAuditWords()
  return (
    <ObjectsPage
      path={PATH}
      source={auditList}
      words={words}
      labelOf={(name, value) =>
        name === 'user' ? userLabel(value) : words.events[value as AuditEntry['event']]
      }
      columns={auditColumns(words)}
      icon="audit"
      id={id}
      detail={({ item, onClose }) => item && <AuditDrawer key={item.id} entry={item} onClose={onClose} />}
    />
  )
}
