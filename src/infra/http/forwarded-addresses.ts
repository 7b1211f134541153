import { isIP } from 'node:net'

const TOKEN = String.raw`[!#$%&'*+.^_\x60|~0-9A-Za-z-]+`
// Without the comma, at which the elements are told apart, and without escapes, which no address needs.
const QUOTED = String.raw`"[^"\\,]*"`
const PAIR = new RegExp(`^(${TOKEN})=(${TOKEN}|${QUOTED})$`)
const WITH_PORT = /^(?:\[(?<v6>[0-9A-Fa-f:.]+)\]|(?<v4>[0-9.]+))(?::\d{1,5})?$/

/**
 * The addresses of `X-Forwarded-For` from the right, read only as far as they are asked for; undefined for an entry that is
 * no address.
 */
export function* addressesOfXForwardedFor(header: string): Generator<string | undefined> {
  for (const entry of fromTheRight(header)) yield addressOf(entry)
}

/**
 * The same of `Forwarded` (RFC 7239). The elements are parted at the last comma first: a client may have begun the header
 * with a quotation mark that it does not end. Such a comma inside of quotes makes the element malformed.
 */
export function* addressesOfForwarded(header: string): Generator<string | undefined> {
  for (const element of fromTheRight(header)) yield addressOf(forOf(element) ?? '')
}

function* fromTheRight(list: string): Generator<string> {
  for (let end = list.length; end >= 0;) {
    const comma = end === 0 ? -1 : list.lastIndexOf(',', end - 1)
    yield list.slice(comma + 1, end).trim()
    end = comma === -1 ? -1 : comma
  }
}

/** The value of `for` in an element with exactly one. */
function forOf(element: string): string | undefined {
  const values: string[] = []
  for (const part of element.split(';')) {
    const [, name = '', value = ''] = PAIR.exec(part.trim()) ?? []
    if (name === '') return undefined
    if (name.toLowerCase() === 'for') values.push(value.replaceAll('"', ''))
  }
  return values.length === 1 ? values[0] : undefined
}

/** `192.0.2.1`, `2001:db8::1`, and both with a port. */
function addressOf(text: string): string | undefined {
  const { v4, v6 } = WITH_PORT.exec(text)?.groups ?? {}
  const address = v4 ?? v6 ?? text
  return isIP(address) === 0 || address.includes('%') ? undefined : address
}
