import type { RobotAdapter } from './adapter.ts'
import type { RobotMessage } from './robot.ts'

const MAX_TITLE_CHARACTERS = 100
// At one message in six seconds ten parts take a minute.
const MAX_PARTS = 10
const WIDEST_MARK = ` (${MAX_PARTS}/${MAX_PARTS})`

type Sized = Pick<RobotAdapter, 'size' | 'maximumSize'>

/** The message in one part, or in several numbered ones that are cut at line ends where possible. */
export function splitMessage(message: RobotMessage, adapter: Sized): RobotMessage[] {
  const whole = { ...message, title: clip(message.title) }
  if (adapter.size(whole) <= adapter.maximumSize) return [whole]
  const fits = (text: string) =>
    adapter.size({ ...whole, title: whole.title + WIDEST_MARK, text }) <= adapter.maximumSize
  const texts = cut(whole.text, fits, adapter.maximumSize)
  return texts.map((text, index) => ({
    ...whole,
    title: `${whole.title} (${index + 1}/${texts.length})`,
    text,
  }))
}

function clip(title: string): string {
  const characters = [...title]
  return characters.length > MAX_TITLE_CHARACTERS
    ? `${characters.slice(0, MAX_TITLE_CHARACTERS - 1).join('')}…`
    : title
}

function cut(text: string, fits: (text: string) => boolean, maximumSize: number): string[] {
  const pieces: string[] = []
  let rest = text
  while (rest !== '' && pieces.length < MAX_PARTS - 1) {
    const length = pieceLength(rest, fits, maximumSize)
    pieces.push(rest.slice(0, length))
    rest = rest.slice(length)
  }
  return rest === '' ? pieces : [...pieces, lastPiece(rest, fits, maximumSize)]
}

function lastPiece(rest: string, fits: (text: string) => boolean, maximumSize: number): string {
  if (fits(rest)) return rest
  const withNote = (piece: string) => `${piece}\n… (${rest.length - piece.length} more characters)`
  const length = longestPrefix(rest, (piece) => fits(withNote(piece)), maximumSize)
  return withNote(rest.slice(0, length))
}

function pieceLength(rest: string, fits: (text: string) => boolean, maximumSize: number): number {
  if (fits(rest)) return rest.length
  const length = longestPrefix(rest, fits, maximumSize)
  const lineEnd = rest.lastIndexOf('\n', length - 1) + 1
  return lineEnd > length / 2 ? lineEnd : length
}

/** The length of the longest prefix that fits: at least one character, and whole ones only. */
function longestPrefix(text: string, fits: (text: string) => boolean, maximumSize: number): number {
  let fitting = 0
  // In every unit a character has at least size 1.
  let tooLong = Math.min(text.length, maximumSize) + 1
  while (tooLong - fitting > 1) {
    const middle = Math.floor((fitting + tooLong) / 2)
    if (fits(text.slice(0, middle))) fitting = middle
    else tooLong = middle
  }
  return Math.max(1, wholeCharacters(text, fitting))
}

function wholeCharacters(text: string, length: number): number {
  const last = text.charCodeAt(length - 1)
  const isFirstHalf = last >= 0xd800 && last <= 0xdbff
  return isFirstHalf ? length - 1 : length
}
