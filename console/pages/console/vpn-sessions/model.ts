import type { AnswerOf } from '../../../api/operations.ts'
import type { ListFilter } from '../../../parts/list/list-query.ts'
import type { Tone } from '../../../parts/status-badge.tsx'
import { listedUsers } from '../user-names.ts'

export type VpnSession = AnswerOf<'listVpnSessions'>['items'][number]
export type VpnPool = AnswerOf<'getVpnPool'>
type SessionState = 'open' | 'closed'

export const SESSION_TONES: Readonly<Record<SessionState, Tone>> = { open: 'good', closed: 'quiet' }

export const SESSION_FILTERS: readonly ListFilter[] = [
  { name: 'state', kind: 'choice', values: ['closed'], preset: 'open' },
  { name: 'gateway', kind: 'text' },
  { name: 'user', kind: 'reference', choices: listedUsers },
  { name: 'created', kind: 'period' },
]

export function sessionStateOf({ closed_at }: VpnSession): SessionState {
  return closed_at === null ? 'open' : 'closed'
}

// These addresses name no host that a browser can open.
const EVERY_ADDRESS = /^(0\.0\.0\.0|\[::\]):/
const SCHEME = /^https?:\/\//

/** Where a gateway shows its tunnels as a picture: with the scheme of the console, unless its address has one. */
export function pictureAddress(address: string, console: Pick<URL, 'protocol' | 'hostname'>): string {
  const [scheme = `${console.protocol}//`] = SCHEME.exec(address) ?? []
  const authority = address.replace(SCHEME, '').replace(EVERY_ADDRESS, `${console.hostname}:`)
  return `${scheme}${authority}/tunnels`
}
