import type { TokenFault } from '../kernel/errors.ts'
import type { IdentityToken } from '../kernel/identity.ts'

/**
 * Where a gateway keeps its sessions: the leases of virtual addresses, the sessions, and the audit trail.
 *
 * A registry belongs to one run of one gateway: the gateway calls {@link SessionRegistry.join} first and
 * {@link SessionRegistry.leave} last, and nothing afterwards. It holds no connection of its own, so there is nothing
 * else to close. What a method returns is committed. Every method may reject with `store_unavailable`, and every
 * method that writes may reject with `read_only`; the gateway may then call again with the same arguments.
 */
export interface SessionRegistry {
  /**
   * Announces the gateway and ends the sessions that an earlier run of the same name left open. Rejects with
   * `gateway_name_in_use` while another gateway of that name is running. Idempotent. Must come before every other method.
   */
  join(): Promise<void>
  /**
   * Leases an address and registers the session with its audit event, in one transaction. A live session of the same
   * user and device is ended with 4409, and its address passes to the new one. Not idempotent: each call makes a
   * session, also when its answer was lost; the gateway ends a session that it does not use with
   * {@link SessionRegistry.close}. Rejects with `unauthenticated` when a change of the user has revoked the token
   * meanwhile, with `pool_exhausted` when no address is free, and with an error of the kind `rate_limited` when the
   * user has too many sessions.
   */
  register(request: SessionRequest): Promise<RegisteredSession>
  /**
   * Records the token that a session goes by from now on: the end of that token ends the session, and that of the former one
   * does not. Idempotent; nothing happens to a session that is over or unknown. Rejects with `unauthenticated` when the token
   * was revoked meanwhile.
   */
  renew(sessionId: string, userId: string, token: SessionToken): Promise<void>
  /** Ends sessions and releases their addresses. Idempotent: sessions that are over or unknown stay as they are. */
  close(ends: readonly SessionEnd[]): Promise<void>
  /**
   * Renews the sign of life of the gateway and of the sessions that it has heard from. Idempotent. A gateway that does
   * not call it for three heartbeats is considered dead, and its sessions are ended by another process.
   */
  beat(news: readonly SessionNews[]): Promise<void>
  /**
   * The sessions of this run that were ended elsewhere: by an operator, by a change of the user, by a second connection
   * of the device, or by another gateway that considered this one dead. At most 1,000 at once. Called twice a second,
   * so it must be cheap. A session is listed again until {@link SessionRegistry.acknowledge} was called for it.
   */
  listEnds(): Promise<SessionEnd[]>
  /** The connections of these sessions are closed. Idempotent; unknown ids are ignored. */
  acknowledge(sessionIds: readonly string[]): Promise<void>
  /** Writes a refused connection to the audit trail; repetitions may be written as one line with their number. */
  recordRefusal(refusal: Refusal): Promise<void>
  /** The gateway stops: ends the sessions that are still open with 1001. Idempotent. */
  leave(): Promise<void>
}

/** What a client asks for, once its token was verified. */
export interface SessionRequest {
  readonly user: { readonly id: string; readonly name: string }
  readonly token: SessionToken
  /** 1–64 of `[A-Za-z0-9._-]`; undefined for a session whose address need not be kept for the next one. */
  readonly device: string | undefined
  readonly remoteAddress: string
}

/** What a verified token says of itself; `issuedAt` in epoch milliseconds. */
export interface SessionToken {
  readonly generation: number | undefined
  readonly issuedAt: number
  /** Where it can be ended alone. */
  readonly token?: IdentityToken | undefined
}

/** A session and the address that it holds. */
export interface RegisteredSession {
  readonly id: string
  /** Dotted IPv4. */
  readonly virtualIp: string
  /** Prefix length of the pool, 12 to 30. */
  readonly prefixLength: number
}

/** How a session ended. */
export interface SessionEnd {
  readonly id: string
  /** The close code of the WebSocket (RFC 6455, section 7.4). */
  readonly code: number
  /** One short phrase, for the close frame and the audit trail. */
  readonly reason: string
}

/** The last sign of life of a session, and its round trip. */
export interface SessionNews {
  readonly id: string
  /** Epoch milliseconds. */
  readonly lastSeenAt: number
  /** Round-trip time of the last answered heartbeat in milliseconds; null before the first. */
  readonly rttMs: number | null
}

/** A connection that was refused before it became a session. */
export interface Refusal {
  readonly remoteAddress: string
  /** Undefined when no valid token was presented. */
  readonly user: { readonly id: string; readonly name: string } | undefined
  /** Undefined when the client named none. */
  readonly device: string | undefined
  readonly reason: string
  /** What is wrong with its token, if that is the reason. */
  readonly tokenFault?: TokenFault | undefined
}

/**
 * Why the platform ends a session, or refuses its connection: the sentences of close frames and of the audit trail, by their
 * stable codes (docs/specification.md, Gateway). Whoever ends a session says one of these; programs read the code.
 */
export const END_REASONS = {
  gateway_restarted: 'the gateway was restarted',
  gateway_stopping: 'the gateway is stopping',
  gateway_silent: 'the gateway was silent for too long',
  registry_lost: 'the gateway has lost its session registry',
  connection_lost: 'the connection was lost',
  closed_by_client: 'closed by the client',
  device_reconnected: 'the device has connected again',
  by_operator: 'disconnected by an operator',
  signed_out: 'the user has signed out',
  password_changed: 'the password was changed',
  user_deleted: 'the user was deleted',
  user_disabled: 'the user was disabled',
  roles_changed: 'the roles of the user were changed',
  user_changed_on_primary: 'the user was changed on the primary',
  user_deleted_on_primary: 'the user was deleted on the primary',
  no_heartbeat: '2 heartbeats without an answer',
  frame_invalid: 'the frame is not valid',
  output_unread: 'more than 1 MiB is unread',
  memory_needed: 'answers are not read while others wait for memory',
  token_expired: 'the token has expired',
  token_revoked: 'the token was revoked',
  token_invalid: 'the token is not valid',
  renewal_invalid: 'the token for the renewal is not valid',
  token_too_long: 'The token is longer than 8 KiB.',
  no_role: 'The token names no role of the platform.',
  authorization_malformed: 'The Authorization header must be "Bearer" and a token.',
} as const

/** A gateway that was silent for so many of its heartbeat intervals is dead (docs/specification.md, Gateway). */
export const INTERVALS_UNTIL_DEAD = 3
