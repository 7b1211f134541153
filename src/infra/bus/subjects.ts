/**
 * The server closes the connection on a control line longer than 4096 bytes, and every message of that batch with
 * it, for ever. The line also carries our reply subject and two lengths, which stay below 100 bytes.
 */
const MAX_SUBJECT_BYTES = 3_900

const BLANK_OR_CONTROL = /[\s\p{Cc}]/u

interface Rule {
  readonly broken: (subject: string) => boolean
  readonly problem: string
}

const RULES: readonly Rule[] = [
  { broken: (subject) => subject === '', problem: 'the subject is empty' },
  { broken: (subject) => Buffer.byteLength(subject) > MAX_SUBJECT_BYTES, problem: 'the subject is too long' },
  {
    broken: (subject) => BLANK_OR_CONTROL.test(subject),
    problem: 'the subject has a blank or control character',
  },
  { broken: (subject) => subject.split('.').includes(''), problem: 'the subject has an empty part' },
  { broken: (subject) => subject.split('.').some(isWildcard), problem: 'the subject has a wildcard' },
  { broken: (subject) => subject.startsWith('$'), problem: "subjects with a leading $ are the server's own" },
]

/** Why nothing can be published on this subject, or undefined when it is fine. */
export function subjectProblem(subject: string): string | undefined {
  return RULES.find((rule) => rule.broken(subject))?.problem
}

/** Whether some subject matches both patterns; a server refuses two streams of which that is true. */
export function patternsCollide(left: string, right: string): boolean {
  const [ours, theirs] = [left.split('.'), right.split('.')]
  const shorter = Math.min(ours.length, theirs.length)
  for (let at = 0; at < shorter; at += 1) {
    if (ours[at] === '>' || theirs[at] === '>') return true
    if (ours[at] !== theirs[at] && ours[at] !== '*' && theirs[at] !== '*') return false
  }
  return ours.length === theirs.length
}

/** Whether every subject that matches `narrow` also matches `wide`. */
export function patternCovers(wide: string, narrow: string): boolean {
  const [outer, inner] = [wide.split('.'), narrow.split('.')]
  const covers = (token: string, at: number): boolean =>
    token === inner[at] || (token === '*' && inner[at] !== '>')
  if (outer.at(-1) !== '>') return outer.length === inner.length && outer.every(covers)
  return inner.length >= outer.length && outer.slice(0, -1).every(covers)
}

/** One expression for all the patterns, so that a batch of a thousand subjects is matched in one pass each. */
export function matcherOf(patterns: readonly string[]): RegExp {
  if (patterns.length === 0) return /^(?!)/
  return new RegExp(`^(?:${patterns.map(toExpression).join('|')})$`, 'u')
}

function toExpression(pattern: string): string {
  return pattern.split('.').map(tokenExpression).join('\\.')
}

function tokenExpression(token: string): string {
  if (token === '*') return '[^.]+'
  return token === '>' ? '.+' : RegExp.escape(token)
}

function isWildcard(token: string): boolean {
  return token === '*' || token === '>'
}
