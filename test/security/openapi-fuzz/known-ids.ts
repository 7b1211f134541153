import type { Answer } from '../../integration/http/traffic.ts'

/** The ids that answers have shown, by the collection that they are of: so that a sequence of calls meets itself. */
export interface KnownIds {
  /** Learns what a good answer of that path shows. */
  learn(path: string, answer: Answer): void
  /** One of them; undefined for every third `pick`, and where none is known. */
  pick(path: string, pick: number): string | undefined
}

const MOST = 50

export function createKnownIds(): KnownIds {
  const byCollection = new Map<string, Set<string>>()
  const idsOf = (path: string) => byCollection.getOrInsertComputed(collectionOf(path), () => new Set())
  return {
    learn(path, { status, headers, text }) {
      if (status >= 300 || !text.startsWith('{')) return
      const ids = idsOf(path)
      // One object in each line.
      const [first = ''] = headers['content-type'] === 'application/jsonl' ? text.split('\n') : [text]
      for (const id of idsIn(JSON.parse(first))) if (ids.size < MOST) ids.add(id)
    },
    pick(path, pick) {
      const ids = [...idsOf(path)]
      return pick % 3 === 0 ? undefined : ids[pick % ids.length]
    },
  }
}

/** `/orders/{order_id}/history` is of `/orders`, `/vpn/sessions/{id}` of `/vpn/sessions`. */
function collectionOf(path: string): string {
  return path.replace(/\/(\{.*|publish|report)$/, '')
}

function idsIn(answer: unknown): string[] {
  if (typeof answer !== 'object' || answer === null) return []
  if ('items' in answer && Array.isArray(answer.items)) return answer.items.flatMap(idsIn)
  return Object.entries(answer)
    .flatMap(([name, value]) => (/^(id|[a-z]+_id)$/.test(name) && typeof value === 'string' ? [value] : []))
    .slice(0, 1)
}
