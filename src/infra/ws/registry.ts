/**
 * Where the gateway keeps its sessions: leases of virtual addresses, the register of sessions, and the audit trail.
 * One registry speaks for one run of one gateway. Everything it answers is committed. Every method may reject with
 * `store_unavailable`, and the writing ones with `read_only`.
 */
export interface SessionRegistry {
  /**
   * Tells the others that this gateway is there, and ends what an earlier run of the same name has left behind. Comes
   * before everything else.
   */
  join(): Promise<void>
  /**
   * Leases an address and registers the session with its audit event, in one transaction. A live session of the same
   * user and device is ended with 4409, and its address is kept. Rejects with `unauthenticated` when a change of the
   * user has ended the token meanwhile, and with `pool_exhausted` when no address is free.
   */
  register(request: SessionRequest): Promise<RegisteredSession>
  /** Ends sessions and returns their addresses; those that are over or unknown are left as they are. */
  close(ends: readonly SessionEnd[]): Promise<void>
  /** Says that this gateway lives, and what it has heard from some of its sessions. */
  beat(heard: readonly SessionNews[]): Promise<void>
  /**
   * The sessions of this run that somebody else has ended: an operator, a change of the user, a second connection of
   * the device, another gateway that took this one for dead. Cheap, for it is asked twice a second; each is answered
   * until {@link SessionRegistry.acknowledge} was told of it.
   */
  ended(): Promise<SessionEnd[]>
  /** The connections of these sessions are cut. */
  acknowledge(sessionIds: readonly string[]): Promise<void>
  /** Notes in the audit trail that somebody was turned away. */
  refused(refusal: Refusal): Promise<void>
  /** This gateway stops; sessions that are still open are ended with 1001. */
  leave(): Promise<void>
}

export interface SessionRequest {
  readonly user: { readonly id: string; readonly name: string }
  /** What the verified token says; times in epoch milliseconds. */
  readonly token: { readonly generation: number | undefined; readonly issuedAt: number }
  /** 1–64 of `[A-Za-z0-9._-]`; undefined for a session of which nothing is remembered. */
  readonly device: string | undefined
  readonly remoteAddress: string
}

export interface RegisteredSession {
  readonly id: string
  /** Dotted IPv4. */
  readonly virtualIp: string
  /** Of the pool, 12 to 30. */
  readonly prefixLength: number
}

export interface SessionEnd {
  readonly id: string
  /** The close code of the WebSocket (contract, section 5). */
  readonly code: number
  /** One short phrase, for the close frame and the audit trail. */
  readonly reason: string
}

export interface SessionNews {
  readonly id: string
  /** Epoch milliseconds. */
  readonly lastSeenAt: number
  /** Round-trip time of the last heartbeat; null until one was answered. */
  readonly rttMs: number | null
}

export interface Refusal {
  readonly remoteAddress: string
  /** Known only when the token was good. */
  readonly userId: string | undefined
  readonly reason: string
}
