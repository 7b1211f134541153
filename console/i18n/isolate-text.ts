import { visibleText } from '../parts/visible-text.ts'

const FIRST_STRONG_ISOLATE = '\u2068'
const POP_ISOLATE = '\u2069'

/** A text of a user within a sentence: its direction of writing does not change the rest, as in `<bdi>`. */
export function isolateText(text: string): string {
  return `${FIRST_STRONG_ISOLATE}${visibleText(text)}${POP_ISOLATE}`
}
