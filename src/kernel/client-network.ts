const DOTTED_END = /(?:\d+\.){3}\d+$/
const IPV6_GROUPS = 8
const NETWORK_GROUPS = 4

/**
 * What limits for each client count by: an IPv4 address as it is, of an IPv6 address its /64, because one client holds
 * all addresses of it (RFC 4291, section 2.5.4).
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
