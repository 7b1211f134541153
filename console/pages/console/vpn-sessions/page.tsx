import { useLocation } from 'preact-iso/router'
import { localNumber, localTime } from '../../../i18n/local.ts'
import { Drawer } from '../../../parts/drawer.tsx'
import { FactList } from '../../../parts/facts.tsx'
import { formatRtt, formatShare } from '../../../parts/format.ts'
import { fieldColumns } from '../../../parts/list/columns.tsx'
import type { TableColumn } from '../../../parts/list/data-table.tsx'
import { addressOf } from '../../../parts/list/list-query.ts'
import { ObjectsPage } from '../../../parts/list/objects-page.tsx'
import { ObjectActions } from '../../../parts/object-actions.tsx'
import { poolTone } from '../../../parts/pool-tone.ts'
import { RelatedLinks } from '../../../parts/related-links.tsx'
import { ResourceView } from '../../../parts/resource/resource-view.tsx'
import { useResource } from '../../../parts/resource/use-resource.ts'
import { sendChange } from '../../../parts/send-change.ts'
import { Stats, type Stat } from '../../../parts/stats.tsx'
import { call, session } from '../platform.ts'
import { listOf, resourceOf } from '../sources.ts'
import { userLabel } from '../user-names.ts'
import { pathOf, type ViewProps } from '../view.ts'
import {
  pictureAddress,
  SESSION_FILTERS,
  SESSION_TONES,
  sessionStateOf,
  type VpnSession,
  type VpnPool,
} from './model.ts'
import { vpnSessionWords } from './words.ts'

const PATH = pathOf('vpn-sessions')

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
      columns={vpnSessionColumns()}
      icon="tunnels"
      id={id}
      summary={<VpnSummary />}
      detail={({ item, onClose }) =>
        item && <VpnSessionDrawer key={item.id} vpnSession={item} onClose={onClose} />
      }
    />
  )
}

function vpnSessionColumns(): readonly TableColumn<VpnSession>[] {
  const { fields } = vpnSessionWords()
  const column = fieldColumns<VpnSession, typeof fields>(fields)
  return [
    { key: 'user', title: fields.user_name, cell: ({ user }) => <bdi>{user.name}</bdi> },
    column.code('virtual_ip'),
    column.text('device', { isWideOnly: true, isFromMedium: true }),
    column.text('gateway', { isWideOnly: true }),
    column.cell('rtt_ms', ({ rtt_ms }) => formatRtt(rtt_ms), { isNumeric: true, isWideOnly: true }),
    column.time('connected_at', { isWideOnly: true }),
  ]
}

/** The address pool, and the gateways with the pictures of their tunnels. */
function VpnSummary() {
  const { summary } = vpnSessionWords()
  const model = useResource(vpnPool, '')
  const gateways = useResource(vpnGateways, '').value.value?.gateways ?? []
  return (
    <ResourceView model={model}>
      {(value) => <Stats label={summary} stats={[poolStat(value), ...gateways.map(gatewayStat)]} />}
    </ResourceView>
  )
}

function poolStat(pool: VpnPool): Stat {
  const words = vpnSessionWords()
  const { cidr, size, used, cooling, free } = pool
  const tone = poolTone(pool)
  return {
    name: words.freeAddresses,
    value: localNumber(free),
    status: { tone, label: words.used(formatShare(used, size)) },
    note: <bdi>{words.poolNote(cidr, localNumber(used), localNumber(cooling))}</bdi>,
  }
}

interface Gateway {
  readonly name: string
  readonly address: string
  readonly alive: boolean
}

function gatewayStat({ name, address, alive }: Gateway): Stat {
  const { gateway, reachable, silent, picture } = vpnSessionWords()
  return {
    name: gateway(name),
    value: address,
    status: alive ? { tone: 'good', label: reachable } : { tone: 'danger', label: silent },
    note: alive && (
      <a href={pictureAddress(address, location)} target="_blank" rel="noreferrer">
        {picture}
      </a>
    ),
  }
}

const PAUSE_MS = 2_000
// The entries of the audit trail are the events of the sessions.
const PREFIX = 'vpn.audit.'

/** The list of the sessions, as the filters of the address say. */
const vpnSessionList = listOf('listVpnSessions', PREFIX, {
  filters: SESSION_FILTERS,
  keyOf: ({ id }) => id,
})

/** The address pool; there is one. */
const vpnPool = resourceOf('getVpnPool', PREFIX, () => ({}), {
  pauseMs: PAUSE_MS,
})

/** The gateways, read once. */
const vpnGateways = resourceOf('listVpnTunnels', PREFIX, () => ({}), {
  isAbout: () => false,
})

interface VpnSessionDrawerProps {
  readonly vpnSession: VpnSession
  readonly onClose: () => void
}

/** One session, as the list has it: the API has no operation that reads one. */
function VpnSessionDrawer({ vpnSession, onClose }: VpnSessionDrawerProps) {
  const words = vpnSessionWords()
  const { route } = useLocation()
  const state = sessionStateOf(vpnSession)
  const disconnect = () =>
    sendChange({
      words: { ...words.disconnect, title: words.disconnect.title(vpnSession.user.name) },
      isDestructive: true,
      send: () => call('disconnectVpnSession', { path: { id: vpnSession.id } }),
      // The session is no longer in the list of connected ones, so the list of all is shown.
      onDone: () => route(`${pathOf('vpn-sessions', vpnSession.id)}?state=closed`),
    })
  return (
    <Drawer title={vpnSession.user.name} onClose={onClose}>
      <ObjectActions
        status={{ tone: SESSION_TONES[state], label: words.states[state] }}
        actions={[
          state === 'open' &&
            session.may('disconnectVpnSession') && {
              title: words.disconnect.action,
              isDestructive: true,
              run: disconnect,
            },
        ]}
      />
      <VpnSessionFacts vpnSession={vpnSession} />
      <RelatedLinks
        links={[
          session.may('getUser') && {
            icon: 'user',
            title: vpnSession.user.name,
            href: pathOf('users', vpnSession.user.id),
          },
          session.may('listVpnSessions') && {
            icon: 'tunnels',
            title: words.sessionsOfUser,
            href: addressOf(PATH, { user: vpnSession.user.id }),
          },
        ]}
      />
    </Drawer>
  )
}

function VpnSessionFacts({ vpnSession }: { readonly vpnSession: VpnSession }) {
  const { fields } = vpnSessionWords()
  const { closed_at, close_code } = vpnSession
  return (
    <FactList
      facts={[
        [fields.virtual_ip, vpnSession.virtual_ip],
        [fields.device, vpnSession.device],
        [fields.gateway, vpnSession.gateway],
        [fields.remote_address, vpnSession.remote_address],
        [fields.rtt_ms, formatRtt(vpnSession.rtt_ms)],
        [fields.connected_at, localTime(vpnSession.connected_at)],
        [fields.last_seen_at, localTime(vpnSession.last_seen_at)],
        [fields.closed_at, closed_at && localTime(closed_at)],
        [fields.close_code, close_code && String(close_code)],
        [fields.user_id, vpnSession.user.id],
      ]}
    />
  )
}
