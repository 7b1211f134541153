interface RestoreErrorOptions {
  /** The drive or what is on it is the reason, not the request. */
  readonly isOfDrive?: boolean
}

/** A restoration that cannot begin. The message is one sentence that says what to do, without secrets. */
export class RestoreError extends Error {
  override readonly name = 'RestoreError'
  readonly isOfDrive: boolean

  constructor(message: string, { isOfDrive = false }: RestoreErrorOptions = {}) {
    super(message)
    this.isOfDrive = isOfDrive
  }
}
