import { useLayoutEffect, useRef } from 'preact/hooks'

/** Something that the user can do: from the command palette, and with the keys if there are some. */
export interface Action {
  readonly title: string
  /** Other words by which people look for it, in every language. */
  readonly keywords?: string
  /** One key (`/`), or several one after the other (`g o`). */
  readonly keys?: string
  /** Whether the command palette leaves it out, because it makes sense only as a key. */
  readonly isKeyOnly?: boolean
  readonly run: () => void
}

const sources = new Set<() => readonly Action[]>()

/** The actions of the parts that are drawn now. The latest part has its keys before the others. */
export function availableActions(): readonly Action[] {
  return [...sources].reverse().flatMap((create) => create())
}

/** Offers these actions as long as the component is drawn. `create` runs whenever they are needed. */
export function useActions(create: () => readonly Action[]): void {
  const latest = useRef(create)
  latest.current = create
  // Before the browser paints: a key that is pressed as soon as the component is seen has its action.
  useLayoutEffect(() => {
    const source = () => latest.current()
    sources.add(source)
    return () => void sources.delete(source)
  }, [])
}
