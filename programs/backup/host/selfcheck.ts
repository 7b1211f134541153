/** The result of one check. */
export interface SelfCheck {
  readonly name: string
  readonly ok: boolean
  /** What was found: one line, without secrets. */
  readonly detail: string
}

/** One check of the server. It is repeated until it passes, and runs beside the others. */
export interface SelfCheckStep {
  readonly name: string
  /** Resolves with what was found, or rejects with what is wrong. It ends soon after the signal is aborted. */
  check(signal: AbortSignal): Promise<string>
}
