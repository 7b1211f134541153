import { visibleText } from '../parts/visible-text.ts'

const FIRST_STRONG_ISOLATE = '\u2068'
const POP_ISOLATE = '\u2069'

/**
 * A text of a user within a sentence, as in `<bdi>`: its direction of writing does not change the rest, and its invisible
 * characters are replaced by marks.
 */
export function isolateText(text: string): string {
  return `${FIRST_STRONG_ISOLATE}${visibleText(text)}${POP_ISOLATE}`
}
