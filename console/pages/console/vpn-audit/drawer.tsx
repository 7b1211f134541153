import { localTime } from '../../../i18n/local.ts'
import { Drawer } from '../../../parts/drawer.tsx'
import { FactList } from '../../../parts/facts.tsx'
import { ObjectActions } from '../../../parts/object-actions.tsx'
import { userLabel } from '../user-names.ts'
import { AUDIT_TONES, type AuditEntry } from './model.ts'
import { reasonText } from './reason.ts'
import { vpnAuditWords } from './words.ts'

export interface AuditDrawerProps {
  readonly entry: AuditEntry
  readonly onClose: () => void
}

/** One entry of the audit trail. The API has no operation for one alone, so it is that of the list. */
export function AuditDrawer({ entry, onClose }: AuditDrawerProps) {
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
    </Drawer>
  )
}
