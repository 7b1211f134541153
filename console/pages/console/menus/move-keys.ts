import { useLayoutEffect, useRef } from 'preact/hooks'
import { isTyping } from '../../../parts/actions/use-keyboard.ts'
import type { MenuMove } from './tree.ts'

const MOVES: Readonly<Record<string, MenuMove>> = {
  ArrowUp: 'up',
  ArrowDown: 'down',
  ArrowLeft: 'out',
  ArrowRight: 'in',
}

/** The move for which a key stands: Alt with an arrow. */
export function moveOf({ key, altKey }: KeyboardEvent): MenuMove | undefined {
  return altKey ? MOVES[key] : undefined
}

/** Moves the chosen menu by keys, wherever the focus is. Fields, dialogs and the tree have their own keys. */
export function useMoveKeys(move: (direction: MenuMove) => void): void {
  const latest = useRef(move)
  latest.current = move
  useLayoutEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      const direction = moveOf(event)
      if (!direction || event.defaultPrevented || isTyping(event.target)) return
      if (document.querySelector('dialog[open]')) return
      event.preventDefault()
      latest.current(direction)
    }
    document.addEventListener('keydown', onKeyDown)
    return () => document.removeEventListener('keydown', onKeyDown)
  }, [])
}
