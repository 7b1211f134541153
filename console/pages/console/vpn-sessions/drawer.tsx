import { useLocation } from 'preact-iso/router'
import { localTime } from '../../../i18n/local.ts'
import { Drawer } from '../../../parts/drawer.tsx'
import { FactList } from '../../../parts/facts.tsx'
import { formatRtt } from '../../../parts/format.ts'
import { addressOf } from '../../../parts/list/list-query.ts'
import { ObjectActions } from '../../../parts/object-actions.tsx'
import { RelatedLinks } from '../../../parts/related-links.tsx'
import { sendChange } from '../../../parts/send-change.ts'
import { call, session } from '../platform.ts'
import { pathOf } from '../view.ts'
import { SESSION_TONES, sessionStateOf, type VpnSession } from './model.ts'
import { vpnSessionWords } from './words.ts'

const PATH = pathOf('vpn-sessions')

export interface VpnSessionDrawerProps {
  readonly shown: VpnSession
  readonly onClose: () => void
}

/** One session. The API has no operation for one alone, so it is that of the list. */
export function VpnSessionDrawer({ shown, onClose }: VpnSessionDrawerProps) {
  const words = vpnSessionWords()
  const { route } = useLocation()
  const state = sessionStateOf(shown)
  const disconnect = () => {
    const { disconnectText: text, disconnect: action, disconnected: done } = words
    return sendChange({
      question: { title: words.disconnectTitle(shown.user.name), text, action, isDestructive: true },
      send: () => call('disconnectVpnSession', { path: { id: shown.id } }),
      done,
      // The session is no longer in the list of connected ones, so the list of all is shown.
      onDone: () => route(`${pathOf('vpn-sessions', shown.id)}?state=closed`),
    })
  }
  return (
    <Drawer title={shown.user.name} onClose={onClose}>
      <ObjectActions
        status={{ tone: SESSION_TONES[state], label: words.states[state] }}
        actions={[
          state === 'open' &&
            session.may('disconnectVpnSession') && {
              title: words.disconnect,
              isDestructive: true,
              run: disconnect,
            },
        ]}
      />
      <VpnSessionFacts shown={shown} />
      <RelatedLinks
        links={[
          session.may('getUser') && {
            icon: 'user',
            title: shown.user.name,
            href: pathOf('users', shown.user.id),
          },
          session.may('listVpnSessions') && {
            icon: 'tunnels',
            title: words.sessionsOfUser,
            href: addressOf(PATH, { user: shown.user.id }),
          },
        ]}
      />
    </Drawer>
  )
}

function VpnSessionFacts({ shown }: { readonly shown: VpnSession }) {
  const { fields } = vpnSessionWords()
  const { closed_at, close_code } = shown
  return (
    <FactList
      facts={[
        [fields.virtual_ip, shown.virtual_ip],
        [fields.device, shown.device],
        [fields.gateway, shown.gateway],
        [fields.remote_address, shown.remote_address],
        [fields.rtt_ms, formatRtt(shown.rtt_ms)],
        [fields.connected_at, localTime(shown.connected_at)],
        [fields.last_seen_at, localTime(shown.last_seen_at)],
        [fields.closed_at, closed_at && localTime(closed_at)],
        [fields.close_code, close_code && String(close_code)],
        [fields.user_id, shown.user.id],
      ]}
    />
  )
}
