/** A restoration that cannot begin. The message is one sentence that says what to do, without secrets. */
export class RestoreError extends Error {
  override readonly name = 'RestoreError'
}
