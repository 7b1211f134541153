import { BlockList, isIP } from 'node:net'
import { LRUCache } from 'lru-cache'

export interface Network {
  readonly address: string
  readonly prefixLength: number
  readonly family: 'ipv4' | 'ipv6'
}

/** Whether the address of a TCP peer is in one of the networks. */
export function peerCheck(networks: readonly Network[]): (address: string | undefined) => boolean {
  const trusted = new BlockList()
  for (const { address, prefixLength, family } of networks) trusted.addSubnet(address, prefixLength, family)
  // A check is a call of native code, which takes about ten times as long as a lookup in the cache.
  const checked = new LRUCache<string, boolean>({
    max: ADDRESSES_CACHED,
    memoMethod: (address) => trusted.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4'),
  })
  return (address) => address !== undefined && checked.memo(address)
}

const ADDRESSES_CACHED = 1_000
