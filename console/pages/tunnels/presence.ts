/** An item of the picture that enters, stays, or leaves. */
export interface AnimatedItem<T> {
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
  present: readonly AnimatedItem<T>[],
  next: readonly T[],
  now: number,
  phaseMs: number,
): AnimatedItem<T>[] {
  const before = new Map(present.map((item) => [item.key, item]))
  const keys = new Set(next.map(({ key }) => key))
  const isOver = (item: AnimatedItem<T>) => now - item.since >= phaseMs
  const there = next.map((value): AnimatedItem<T> => {
    const item = before.get(value.key)
    if (!item || item.phase === 'leaving') return { key: value.key, value, phase: 'entering', since: now }
    return { ...item, value, phase: item.phase === 'entering' && isOver(item) ? 'here' : item.phase }
  })
  const gone = present
    .filter(({ key }) => !keys.has(key))
    .map((item): AnimatedItem<T> =>
      item.phase === 'leaving' ? item : { ...item, phase: 'leaving', since: now },
    )
    .filter((item) => !isOver(item))
  return [...there, ...gone]
}
