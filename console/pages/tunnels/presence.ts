/** Something that is shown, comes, or has gone and is shown while it leaves. */
export interface Present<T> {
  readonly key: string
  readonly value: T
  readonly phase: 'entering' | 'here' | 'leaving'
  /** When the phase began. */
  readonly since: number
}

/**
 * What to show now: the next items in their order, then the removed ones that are still animated. A phase other than
 * `here` lasts `phaseMs`.
 */
export function presentItems<T extends { readonly key: string }>(
  present: readonly Present<T>[],
  next: readonly T[],
  now: number,
  phaseMs: number,
): Present<T>[] {
  const before = new Map(present.map((item) => [item.key, item]))
  const keys = new Set(next.map(({ key }) => key))
  const isOver = (item: Present<T>) => now - item.since >= phaseMs
  const there = next.map((value): Present<T> => {
    const item = before.get(value.key)
    if (!item || item.phase === 'leaving') return { key: value.key, value, phase: 'entering', since: now }
    return { ...item, value, phase: item.phase === 'entering' && isOver(item) ? 'here' : item.phase }
  })
  const gone = present
    .filter(({ key }) => !keys.has(key))
    .map((item): Present<T> => (item.phase === 'leaving' ? item : { ...item, phase: 'leaving', since: now }))
    .filter((item) => !isOver(item))
  return [...there, ...gone]
}
