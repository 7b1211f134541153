/** A variable of the environment has a value that cannot be used; the message names the variable and the value. */
export class ValueError extends Error {
  override readonly name = 'ValueError'
}
