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
