import { localTime } from '../../../i18n/local.ts'
import { Drawer } from '../../../parts/drawer.tsx'
import { FactList } from '../../../parts/facts.tsx'
import { fieldColumns } from '../../../parts/list/columns.tsx'
import type { TableColumn } from '../../../parts/list/data-table.tsx'
import { addressOf } from '../../../parts/list/list-query.ts'
import { ObjectsPage } from '../../../parts/list/objects-page.tsx'
import { ObjectActions } from '../../../parts/object-actions.tsx'
import { RelatedLinks } from '../../../parts/related-links.tsx'
import { session } from '../platform.ts'
import { userLabel } from '../user-names.ts'
import { pathOf, type ViewProps } from '../view.ts'
import { vpnSessionWords } from '../vpn-sessions/words.ts'
import { auditList, AUDIT_TONES, type AuditEntry } from './model.ts'
import { reasonText } from './reason.ts'
import { vpnAuditWords } from './words.ts'

const PATH = pathOf('vpn-audit')

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
      columns={auditColumns()}
      icon="audit"
      id={id}
      detail={({ item, onClose }) => item && <AuditDrawer key={item.id} entry={item} onClose={onClose} />}
    />
  )
}

interface AuditDrawerProps {
  readonly entry: AuditEntry
  readonly onClose: () => void
}

/** One entry of the audit trail, as the list has it: the API has no operation that reads one. */
function AuditDrawer({ entry, onClose }: AuditDrawerProps) {
  const { events, fields, unknown } = vpnAuditWords()
  const { event, user_id, user_name } = entry
  return (
    <Drawer title={user_name ?? (user_id === null ? unknown : userLabel(user_id))} onClose={onClose}>
      <ObjectActions status={{ tone: AUDIT_TONES[event], label: events[event] }} actions={[]} />
      <FactList
        facts={[
          [fields.at, localTime(entry.at)],
          [fields.reason, reasonText(entry, userLabel)],
          [fields.remote_address, entry.remote_address],
          [fields.gateway, entry.gateway],
          [fields.virtual_ip, entry.virtual_ip],
          [fields.device, entry.device],
          [fields.user_id, user_id],
          [fields.session_id, entry.session_id],
        ]}
      />
      {user_id !== null && <RelatedLinks links={linksOfUser(user_id)} />}
    </Drawer>
  )
}

/** Links to the user of an entry, and to the sessions of the user. */
function linksOfUser(user: string) {
  return [
    session.may('getUser') && {
      icon: 'user' as const,
      title: userLabel(user),
      href: pathOf('users', user),
    },
    session.may('listVpnSessions') && {
      icon: 'tunnels' as const,
      title: vpnSessionWords().sessionsOfUser,
      href: addressOf(pathOf('vpn-sessions'), { user }),
    },
  ]
}

function auditColumns(): readonly TableColumn<AuditEntry>[] {
  const { fields, events, unknown } = vpnAuditWords()
  const column = fieldColumns<AuditEntry, typeof fields>(fields)
  return [
    {
      key: 'user',
      title: fields.user_name,
      cell: ({ user_name, user_id }) => (
        <bdi>{user_name ?? (user_id === null ? unknown : userLabel(user_id))}</bdi>
      ),
    },
    column.status('event', AUDIT_TONES, events),
    column.code('remote_address', { isWideOnly: true }),
    column.text('gateway', { isWideOnly: true }),
    column.cell('reason', (entry) => <bdi>{reasonText(entry, userLabel) ?? '–'}</bdi>, { isWideOnly: true }),
    column.time('at', { isWideOnly: true, isFromMedium: true }),
  ]
}
