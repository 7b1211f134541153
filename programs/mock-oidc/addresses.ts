import { BlockList, isIP } from 'node:net'

// The characters that RFC 3986, section 3.2, allows before the path, then visible ASCII without `#` and `\`. Anything else
// would change in a Location header, or could not be sent in one.
const HTTP_URL = /^https?:\/\/[\w.~!$&'()*+,;=%:@[\]-]+(?:[/?][!"$-[\]-~]*)?$/i

/** An absolute http(s) URL without a fragment, as a redirect needs (RFC 6749, section 3.1.2). */
export function isRedirectAddress(text: string): boolean {
  return HTTP_URL.test(text) && URL.canParse(text)
}

/** A redirect address without a query, too: what endpoints can be appended to (OIDC Discovery, section 3). */
export function isIssuerAddress(text: string): boolean {
  return isRedirectAddress(text) && !text.includes('?')
}

/** `http://127.0.0.1:0`, when the system has chosen the port: the same with the real one. */
export function withRealPort(address: string, port: number): string {
  return new URL(address).port === '0' ? address.replace(/:0+(?=\/|$)/, `:${port}`) : address
}

/** The address with these parameters added to whatever query it has. */
export function withQuery(
  address: string,
  parameters: readonly (readonly [string, string | undefined])[],
): string {
  let text = address
  for (const [name, value] of parameters) {
    if (value === undefined) continue
    text += `${separatorAfter(text)}${name}=${encodeURIComponent(value)}`
  }
  return text
}

function separatorAfter(text: string): string {
  if (!text.includes('?')) return '?'
  return text.endsWith('?') || text.endsWith('&') ? '' : '&'
}

const loopback = new BlockList()
loopback.addSubnet('127.0.0.0', 8, 'ipv4')
loopback.addAddress('::1', 'ipv6')

/** Whether the text is an IP address that only this host can reach. */
export function isLoopbackAddress(text: string): boolean {
  const version = isIP(text)
  return version !== 0 && !text.includes('%') && loopback.check(text, version === 4 ? 'ipv4' : 'ipv6')
}
