import type { AnswerOf } from '../../../api/operations.ts'
import type { ListSource } from '../../../parts/list/use-list.ts'
import type { ResourceSource } from '../../../parts/resource/use-resource.ts'
import { call, live } from '../platform.ts'
import { SESSION_FILTERS, type VpnPool, type VpnSession } from './model.ts'

const PAGE_LENGTH = 50
const PAUSE_MS = 2_000
// The entries of the audit trail are the events of the sessions.
const PREFIX = 'vpn.audit.'

/** The list of the sessions, as the filters of the address say. */
export const vpnSessionList: ListSource<VpnSession> = {
  filters: SESSION_FILTERS,
  live,
  prefix: PREFIX,
  read: (query, signal) => call('listVpnSessions', { query: { ...query, limit: PAGE_LENGTH } }, signal),
  keyOf: ({ id }) => id,
  fromEvent: () => 'changed',
}

/** The address pool; there is one. */
export const vpnPool: ResourceSource<VpnPool> = {
  live,
  prefix: PREFIX,
  read: (_, signal) => call('getVpnPool', {}, signal),
  isAbout: () => true,
  pauseMs: PAUSE_MS,
}

/** The gateways, read once. */
export const vpnGateways: ResourceSource<AnswerOf<'listVpnTunnels'>> = {
  live,
  prefix: PREFIX,
  read: (_, signal) => call('listVpnTunnels', {}, signal),
  isAbout: () => false,
}
