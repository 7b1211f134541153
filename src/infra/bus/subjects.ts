/**
 * A control line longer than 4096 bytes makes the server close the connection, so that its batch could never be
 * delivered. The line also has the reply subject and two lengths, which need less than 100 bytes.
 */
const MAX_SUBJECT_BYTES = 3_900

const SPACE_OR_CONTROL = /[\s\p{Cc}]/u

interface Rule {
  readonly isBroken: (subject: string) => boolean
  readonly problem: string
}

const RULES: readonly Rule[] = [
  { isBroken: (subject) => subject === '', problem: 'the subject is empty' },
  {
    isBroken: (subject) => Buffer.byteLength(subject) > MAX_SUBJECT_BYTES,
    problem: 'the subject is too long',
  },
  {
    isBroken: (subject) => SPACE_OR_CONTROL.test(subject),
    problem: 'the subject has a space or control character',
  },
  { isBroken: (subject) => subject.split('.').includes(''), problem: 'the subject has an empty part' },
  { isBroken: (subject) => subject.split('.').some(isWildcard), problem: 'the subject has a wildcard' },
  {
    isBroken: (subject) => subject.startsWith('$'),
    problem: 'subjects that begin with $ are reserved for the server',
  },
]

/** Why nothing can be published on this subject; undefined if it is valid. */
export function subjectProblem(subject: string): string | undefined {
  return RULES.find((rule) => rule.isBroken(subject))?.problem
}

/** Whether a subject can match both patterns; a server refuses a second stream with such a pattern. */
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

/** One expression for all patterns, so that each subject is matched in one pass. */
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
