// The path is part of the state, which is part of an address.
const LENGTH_LIMIT = 1_024
// What a path and its query may consist of (RFC 3986, section 3), without a fragment, which the ticket takes.
const CHARACTERS = /^\/[A-Za-z0-9\-._~[\]!$&'()*+,;=:@%/?]*$/
// In the path, a browser or a proxy may decode them once or more often: separators, dots and control characters.
const ENCODED = /%(?:25)*(?:0[0-9a-f]|1[0-9a-f]|2[ef]|5c|7f)/i
const ENCODED_CONTROL = /%(?:25)*(?:0[0-9a-f]|1[0-9a-f]|7f)/i
const INCOMPLETE_ESCAPE = /%(?![0-9a-f]{2})/i
const EMPTY_OR_DOTS = /\/(?:\/|\.{1,2}(?:[/;]|$))/

/**
 * Whether a text is a path on the host that serves it, however a browser reads it: no other host, no step upwards and no
 * control character, encoded or not.
 */
export function isReturnPath(text: string): boolean {
  if (text.length > LENGTH_LIMIT || !CHARACTERS.test(text) || INCOMPLETE_ESCAPE.test(text)) return false
  const [path = '', ...query] = text.split('?')
  return !EMPTY_OR_DOTS.test(path) && !ENCODED.test(path) && !ENCODED_CONTROL.test(query.join('?'))
}
