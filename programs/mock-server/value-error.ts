/** An environment variable has an invalid value; the message names both. */
export class ValueError extends Error {
  override readonly name = 'ValueError'
}
