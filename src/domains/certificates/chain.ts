/** A certificate by its two parties, each a subject with its key. */
export interface ChainLink {
  readonly holder: string
  /** Null when no certificate of the bundle has signed it. */
  readonly signer: string | null
}

/** Whether each certificate is signed by the next one; `misordered` when that is so in another order. */
export type ChainOrder = 'unbroken' | 'misordered' | 'broken'

export function chainOrder(links: readonly ChainLink[]): ChainOrder {
  const isUnbroken = links.every(({ signer }, index) => {
    const next = links[index + 1]
    return !next || signer === next.holder
  })
  if (isUnbroken) return 'unbroken'
  return hasUnbrokenOrder(links) ? 'misordered' : 'broken'
}

// The signers outside of the bundle count as one party: an unbroken chain has one at most.
const OUTSIDE = ''

/**
 * A certificate is an edge from its holder to its signer, and an unbroken chain is a path that has every edge once: an
 * Eulerian path. There is one if the edges are connected and no two of them must be the first one.
 */
function hasUnbrokenOrder(links: readonly ChainLink[]): boolean {
  const balances = new Map<string, number>()
  const add = (party: string, by: number) => balances.set(party, (balances.get(party) ?? 0) + by)
  for (const { holder, signer } of links) {
    add(holder, 1)
    add(signer ?? OUTSIDE, -1)
  }
  const starts = [...balances.values()].filter((balance) => balance > 0)
  return starts.reduce((sum, balance) => sum + balance, 0) <= 1 && isConnected(links)
}

function isConnected(links: readonly ChainLink[]): boolean {
  const reached = new Set(links.slice(0, 1).map(({ holder }) => holder))
  for (let before = 0; before < reached.size;) {
    before = reached.size
    for (const { holder, signer } of links) {
      const parties = [holder, signer ?? OUTSIDE]
      if (parties.some((party) => reached.has(party))) for (const party of parties) reached.add(party)
    }
  }
  return links.every(({ holder }) => reached.has(holder))
}
