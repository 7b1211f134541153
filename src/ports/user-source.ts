/** A user as the primary knows it, without password and hash. */
export interface MirroredUser {
  readonly id: string
  readonly name: string
  /** Empty for a deleted user. */
  readonly roles: readonly string[]
  readonly enabled: boolean
  readonly tokenGeneration: number
  readonly deleted: boolean
}

/** A page of users that have changed, in the order of their last changes. */
export interface UserChanges {
  /** Revision of the last change in the page; the next page begins after it. */
  readonly revision: number
  /** The first page of a copy of all users: a user that is in none of its pages does not exist. */
  readonly full: boolean
  /** Whether there are further changes. */
  readonly more: boolean
  /** The primary's pool of virtual addresses: `100.64.0.0/16`. */
  readonly pool: string
  readonly items: readonly MirroredUser[]
}

/**
 * Why there is no answer. `unreachable`: no api answers. `refused`: the token is not accepted. `unusable`: the answer
 * cannot be used. `reason` is for people and contains no secret and no address.
 */
export interface UserSourceFailure {
  readonly outcome: 'unreachable' | 'refused' | 'unusable'
  readonly reason: string
}

/** The users of another platform, the primary. */
export interface UserSource {
  /**
   * The changes after a revision; all users without a revision, and after one that the primary does not know. Takes a
   * bounded time and never rejects. Changes nothing, so it may be repeated.
   */
  changesSince(
    revision: number | undefined,
    signal: AbortSignal,
  ): Promise<{ readonly outcome: 'changes'; readonly changes: UserChanges } | UserSourceFailure>
  /** Closes the connections; may be called twice. */
  close(): void
}

/** How current the copy of a standby is. `degraded`: the primary is away. `expired`: too old for new sessions. */
export interface MirrorHealth {
  readonly status: 'ok' | 'degraded' | 'expired'
  /** Null before the first copy. */
  readonly ageSeconds: number | null
  /** Why the status is not `ok`; without secrets and addresses of hosts. */
  readonly reason: string | null
}

/** The copy of the primary's users on a standby. Nothing here waits or changes anything. */
export interface Mirror {
  health(): MirrorHealth
  /** Throws `mirror_outdated` or `pool_overlap`, of the kind `unavailable`, when no session may be opened. */
  requireCurrent(): void
  /** Whether the last request of the standby found no api at the primary. */
  isPrimaryAway(): boolean
}
