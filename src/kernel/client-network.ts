const DOTTED_END = /(?:\d{1,3}\.){3}\d{1,3}$/
const IPV6_GROUPS = 8
const NETWORK_GROUPS = 4

/**
 * The key of a limit per client: an IPv4 address itself, but the /64 of an IPv6 address, because one client can use every
 * address of its /64 (RFC 4291, section 2.5.4).
 */
export function clientNetwork(address: string): string {
  if (!address.includes(':')) return address
  const [head = '', tail = ''] = address.replace(DOTTED_END, '0:0').split('::')
  const [left, right] = [groupsOf(head), groupsOf(tail)]
  const zeros = Array<string>(Math.max(0, IPV6_GROUPS - left.length - right.length)).fill('0')
  const network = [...left, ...zeros, ...right].slice(0, NETWORK_GROUPS)
  return `${network.map((group) => Number.parseInt(group, 16).toString(16)).join(':')}::/64`
}

function groupsOf(part: string): string[] {
  return part === '' ? [] : part.split(':')
}
