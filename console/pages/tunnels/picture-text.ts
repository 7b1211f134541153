import type { Side } from './placed.ts'

// Width in the widest font that the style sheet may come to, at 12 px.
const CHARACTER_WIDTH = 7.3
const WIDE_CHARACTER_WIDTH = 12.5
const WIDE =
  /[\p{Script=Han}\p{Script=Hangul}\p{Script=Hiragana}\p{Script=Katakana}\p{Extended_Pictographic}\u3000-\u303f\uff00-\uff60]/u

/** The most that a text takes in the picture. */
export function widthOf(text: string): number {
  return [...text].reduce(
    (width, character) => width + (WIDE.test(character) ? WIDE_CHARACTER_WIDTH : CHARACTER_WIDTH),
    0,
  )
}

/** Cuts a text so that it surely fits, with an ellipsis where it was cut. */
export function fitText(text: string, width: number): string {
  const most = Math.max(1, Math.floor(width / CHARACTER_WIDTH))
  const characters = [...text].slice(0, most + 1)
  if (widthOf(characters.join('')) <= width) return text
  do characters.pop()
  while (characters.length > 0 && widthOf(`${characters.join('')}…`) > width)
  return `${characters.join('')}…`
}

/** Text grows away from the hub. */
export function anchorOf(side: Side): 'start' | 'end' {
  return side === 1 ? 'start' : 'end'
}
