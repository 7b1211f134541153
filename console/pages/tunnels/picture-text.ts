import { shorten } from '../../parts/format.ts'
import type { Side } from './placed.ts'

// Of the widest font that the style sheet may come to, at 12 px.
const CHARACTER_WIDTH = 7.3

/** As much of a text as surely fits. */
export function fitting(text: string, width: number): string {
  return shorten(text, Math.floor(width / CHARACTER_WIDTH))
}

/** Text grows away from the hub. */
export function anchorOf(side: Side): 'start' | 'end' {
  return side === 1 ? 'start' : 'end'
}
