import type { TunnelsAnswer } from '../../console/pages/tunnels/tunnel-state.ts'
import { chanceFrom, type Chance } from './random.ts'

export type SessionItem = TunnelsAnswer['sessions'][number]

export const AT = Date.parse('2026-01-31T02:00:00.000Z')
const POOL_SIZE = 65_533
const DEVICES = ['laptop', 'phone', 'desktop', 'scanner', 'kiosk', null] as const
const NAMES =
  'ada alan anna bela boris carla chen clara dario dilan edith emil fatou farid gina greta hana hugo ines ivo jana joao kaya kofi lena luis maya milo nadia niko olga omar petra pia quinn rosa ruben sara sven tara timo uma vera viktor wanda xenia yara yusuf zoe zora'.split(
    ' ',
  )

export function timeBefore(ms: number): string {
  return new Date(AT - ms).toISOString()
}

export function sessionItem(fields: Partial<SessionItem> & Pick<SessionItem, 'virtual_ip'>): SessionItem {
  return {
    id: `session-${fields.virtual_ip}`,
    user: { id: 'ada', name: 'ada' },
    device: 'laptop',
    gateway: 'primary',
    remote_address: '192.0.2.7',
    connected_at: timeBefore(3_600_000),
    last_seen_at: timeBefore(4_000),
    closed_at: null,
    close_code: null,
    rtt_ms: 12,
    ...fields,
  }
}

/** Two gateways, both up, with these sessions. */
export function tunnelsAnswer(
  sessions: readonly SessionItem[],
  fields: Partial<TunnelsAnswer> = {},
): TunnelsAnswer {
  const used = sessions.length
  return {
    at: new Date(AT).toISOString(),
    gateways: [gatewayItem('primary', '10.0.0.5:9700'), gatewayItem('standby', '10.0.0.6:9700')],
    pool: { cidr: '100.64.0.0/16', size: POOL_SIZE, used, cooling: 3, free: POOL_SIZE - used - 3 },
    total: used,
    sessions,
    ...fields,
  }
}

export function gatewayItem(
  name: string,
  address: string,
  fields: Partial<TunnelsAnswer['gateways'][number]> = {},
): TunnelsAnswer['gateways'][number] {
  return { name, address, heartbeat_seconds: 30, last_seen_at: timeBefore(1_000), alive: true, ...fields }
}

/** Sessions by chance, the same ones for the same seed: most are fast, a few are not. */
export function someSessions(count: number, users: number, seed = 7): SessionItem[] {
  const chance = chanceFrom(seed)
  return Array.from({ length: count }, (_, index) => {
    const name = userName(index < users ? index : chance.between(0, users - 1))
    return sessionItem({
      virtual_ip: `100.64.${Math.floor((index + 2) / 256)}.${(index + 2) % 256}`,
      user: { id: name, name },
      device: chance.pick(DEVICES),
      gateway: chance.number() < 0.6 ? 'primary' : 'standby',
      remote_address: `192.0.2.${chance.between(1, 254)}`,
      connected_at: timeBefore(chance.between(20_000, 200_000_000)),
      ...howItDoes(chance),
    })
  })
}

function howItDoes(chance: Chance): Pick<SessionItem, 'last_seen_at' | 'rtt_ms'> {
  const luck = chance.number()
  const last_seen_at = timeBefore(luck < 0.02 ? 62_000 : chance.between(0, 30_000))
  if (luck < 0.04) return { last_seen_at, rtt_ms: null }
  if (luck < 0.1) return { last_seen_at, rtt_ms: chance.between(250, 900) }
  return { last_seen_at, rtt_ms: luck < 0.28 ? chance.between(80, 249) : chance.between(2, 79) }
}

function userName(index: number): string {
  const name = NAMES[index % NAMES.length] ?? 'user'
  const round = Math.floor(index / NAMES.length)
  return round === 0 ? name : `${name}.${round + 1}`
}
