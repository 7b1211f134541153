import { AppError } from '../../src/kernel/errors.ts'
import { newId } from '../../src/kernel/ids.ts'
import type {
  Refusal,
  RegisteredSession,
  SessionEnd,
  SessionNews,
  SessionRegistry,
  SessionRequest,
  SessionToken,
} from '../../src/ports/session-registry.ts'

export interface MemoryRegistry extends SessionRegistry {
  /** Sessions that hold an address now. */
  readonly live: ReadonlyMap<string, RegisteredSession & SessionRequest>
  /** Every end, in order; one for each session. */
  readonly ends: readonly SessionEnd[]
  readonly refusals: readonly Refusal[]
  readonly heard: ReadonlyMap<string, SessionNews>
  /** How often the gateway has called `beat`. */
  readonly beats: number
  readonly isJoined: boolean
  /** How many calls it has rejected while it was away. */
  readonly missed: number
  /** Ends a session as another gateway or an operator does. */
  endElsewhere(id: string, code: number, reason: string): void
  /** Revokes the tokens of the user that were issued before. */
  endTokens(userId: string): void
  /** From now on every call rejects with `store_unavailable`, or works again. */
  setAway(isAway: boolean): void
}

export interface MemoryRegistryOptions {
  readonly capacity?: number
  /** How many sessions one user may have at a time; any number when left out. */
  readonly sessionsPerUser?: number
  /** A registration waits for it before it answers. */
  readonly afterRegister?: (id: string) => Promise<void>
  /** `leave` waits for it. */
  readonly beforeLeave?: () => Promise<void>
}

const PREFIX_LENGTH = 16
const FIRST_OCTETS = '100.64'

/** A registry in memory: no cool-down, one gateway, and nothing lasts. */
export function createMemoryRegistry({
  capacity = 65_533,
  sessionsPerUser = Infinity,
  afterRegister = async () => undefined,
  beforeLeave = async () => undefined,
}: MemoryRegistryOptions = {}): MemoryRegistry {
  const live = new Map<string, RegisteredSession & SessionRequest>()
  const lastAddress = new Map<string, string>()
  const tokensEndedAt = new Map<string, number>()
  const unacknowledged = new Map<string, SessionEnd>()
  const heard = new Map<string, SessionNews>()
  const ends: SessionEnd[] = []
  const refusals: Refusal[] = []
  let isAway = false
  let isJoined = false
  let beats = 0
  let missed = 0

  const answering = async <T>(work: () => T): Promise<T> => {
    await new Promise((resolve) => setImmediate(resolve))
    if (isAway) {
      missed++
      throw new AppError('unavailable', 'store_unavailable', 'The registry is away.')
    }
    return work()
  }

  const end = (each: SessionEnd): void => {
    if (live.delete(each.id)) ends.push(each)
  }

  const endElsewhere = (id: string, code: number, reason: string): void => {
    if (!live.has(id)) return
    end({ id, code, reason })
    unacknowledged.set(id, { id, code, reason })
  }

  const freeAddress = (wanted: string | undefined): string => {
    const taken = new Set([...live.values()].map(({ virtualIp }) => virtualIp))
    if (wanted !== undefined && !taken.has(wanted)) return wanted
    for (let host = 2; host < capacity + 2; host++) {
      const address = `${FIRST_OCTETS}.${host >> 8}.${host & 255}`
      if (!taken.has(address)) return address
    }
    throw new AppError('unavailable', 'pool_exhausted', 'No virtual address is free.')
  }

  const requireLive = (userId: string, token: SessionToken): void => {
    if (token.issuedAt >= (tokensEndedAt.get(userId) ?? 0)) return
    throw new AppError('unauthenticated', 'unauthenticated', 'The token is not valid any more.')
  }

  const register = (request: SessionRequest): RegisteredSession => {
    const { user, token, device } = request
    requireLive(user.id, token)
    const owner = device === undefined ? undefined : `${user.id} ${device}`
    for (const other of live.values()) {
      if (device !== undefined && other.user.id === user.id && other.device === device) {
        endElsewhere(other.id, 4409, 'replaced by a newer session of the device')
      }
    }
    if ([...live.values()].filter((other) => other.user.id === user.id).length >= sessionsPerUser) {
      throw new AppError('rate_limited', 'too_many_sessions', 'The user has too many sessions.', {
        retryAfterSeconds: 30,
      })
    }
    const virtualIp = freeAddress(owner === undefined ? undefined : lastAddress.get(owner))
    if (owner !== undefined) lastAddress.set(owner, virtualIp)
    const session = { id: newId(), virtualIp, prefixLength: PREFIX_LENGTH }
    live.set(session.id, { ...session, ...request })
    return session
  }

  return {
    live,
    ends,
    refusals,
    heard,
    get beats() {
      return beats
    },
    get missed() {
      return missed
    },
    get isJoined() {
      return isJoined
    },
    endElsewhere,
    endTokens: (userId) => void tokensEndedAt.set(userId, Date.now() + 1),
    setAway: (next) => void (isAway = next),
    join: () => answering(() => void (isJoined = true)),
    async register(request) {
      const session = await answering(() => register(request))
      await afterRegister(session.id)
      return session
    },
    renew: (id, userId, token) =>
      answering(() => {
        requireLive(userId, token)
        const session = live.get(id)
        if (session) live.set(id, { ...session, token })
      }),
    close: (each) => answering(() => each.forEach(end)),
    beat: (news) =>
      answering(() => {
        beats++
        for (const each of news) if (live.has(each.id)) heard.set(each.id, each)
      }),
    listEnds: () => answering(() => [...unacknowledged.values()]),
    acknowledge: (ids) => answering(() => ids.forEach((id) => unacknowledged.delete(id))),
    recordRefusal: (refusal) => answering(() => void refusals.push(refusal)),
    async leave() {
      await beforeLeave()
      await answering(() => {
        isJoined = false
        for (const id of live.keys()) end({ id, code: 1001, reason: 'the gateway left' })
      })
    },
  }
}
