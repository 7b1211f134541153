/** What `GET /tunnels/state` answers, in the words of this page; times in epoch milliseconds of the gateway's clock. */
export interface TunnelState {
  readonly at: number
  readonly gateways: readonly Gateway[]
  readonly pool: Pool
  /** All live sessions; `sessions` holds no more than the gateway sends. */
  readonly total: number
  readonly sessions: readonly Session[]
  /** This is a standby, and the sessions of its primary are not in the answer. */
  readonly isPrimaryMissing: boolean
}

export interface Gateway {
  readonly name: string
  readonly address: string
  /** How often it asks its sessions for a sign of life. */
  readonly heartbeatMs: number
  readonly lastSeenAt: number
  readonly isAlive: boolean
}

export interface Pool {
  readonly cidr: string
  readonly size: number
  readonly used: number
  readonly cooling: number
  readonly free: number
}

export interface Session {
  readonly id: string
  readonly user: { readonly id: string; readonly name: string }
  readonly device: string | null
  readonly virtualIp: string
  readonly gateway: string
  readonly remoteAddress: string
  readonly connectedAt: number
  readonly lastSeenAt: number
  /** Null until a heartbeat was answered. */
  readonly rttMs: number | null
}

/** Reads an answer; throws an error that names the field which is not as it should be. */
export function parseTunnelState(json: unknown): TunnelState {
  const answer = fieldsOf(json, 'the answer')
  return {
    at: answer.time('at'),
    gateways: answer.list('gateways').map(parseGateway),
    pool: parsePool(answer.inner('pool')),
    total: answer.number('total'),
    sessions: answer.list('sessions').map(parseSession),
    isPrimaryMissing: answer.optionalText('primary') === 'unavailable',
  }
}

function parseGateway(gateway: Fields): Gateway {
  return {
    name: gateway.text('name'),
    address: gateway.optionalText('address') ?? '',
    heartbeatMs: gateway.number('heartbeat_seconds') * 1_000,
    lastSeenAt: gateway.time('last_seen_at'),
    isAlive: gateway.flag('alive'),
  }
}

function parsePool(pool: Fields): Pool {
  return {
    cidr: pool.text('cidr'),
    size: pool.number('size'),
    used: pool.number('used'),
    cooling: pool.number('cooling'),
    free: pool.number('free'),
  }
}

function parseSession(session: Fields): Session {
  const user = session.inner('user')
  return {
    id: session.text('id'),
    user: { id: user.text('id'), name: user.text('name') },
    device: session.optionalText('device'),
    virtualIp: session.text('virtual_ip'),
    gateway: session.text('gateway'),
    remoteAddress: session.optionalText('remote_address') ?? '',
    connectedAt: session.time('connected_at'),
    lastSeenAt: session.time('last_seen_at'),
    rttMs: session.optionalNumber('rtt_ms'),
  }
}

interface Fields {
  text(name: string): string
  optionalText(name: string): string | null
  number(name: string): number
  optionalNumber(name: string): number | null
  flag(name: string): boolean
  /** RFC 3339 → epoch milliseconds. */
  time(name: string): number
  inner(name: string): Fields
  list(name: string): Fields[]
}

function fieldsOf(json: unknown, what: string): Fields {
  if (!isRecord(json)) throw new Error(`${what} is not an object`)
  const wrong = (name: string, wanted: string) => new Error(`${what}: ${name} is not ${wanted}`)
  const text = (name: string) => {
    const value = json[name]
    if (typeof value !== 'string') throw wrong(name, 'a text')
    return value
  }
  const number = (name: string) => {
    const value = json[name]
    if (typeof value !== 'number') throw wrong(name, 'a number')
    return value
  }
  return {
    text,
    number,
    optionalText: (name) => (json[name] === null || json[name] === undefined ? null : text(name)),
    optionalNumber: (name) => (json[name] === null || json[name] === undefined ? null : number(name)),
    flag(name) {
      const value = json[name]
      if (typeof value !== 'boolean') throw wrong(name, 'true or false')
      return value
    },
    time(name) {
      const time = Date.parse(text(name))
      if (Number.isNaN(time)) throw wrong(name, 'a time')
      return time
    },
    inner: (name) => fieldsOf(json[name], name),
    list(name) {
      const value = json[name]
      if (!Array.isArray(value)) throw wrong(name, 'a list')
      return value.map((item) => fieldsOf(item, name))
    },
  }
}

function isRecord(json: unknown): json is Readonly<Record<string, unknown>> {
  return typeof json === 'object' && json !== null
}
