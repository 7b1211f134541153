import { matchesGlob } from 'node:path'

/** A checked glob of `media_globs`. */
export interface MediaGlob {
  /** The directory before the first wildcard. */
  readonly directory: string
  /** What follows below it; `**` stands for any number of directories. The last one names files. */
  readonly segments: readonly string[]
}

const WILDCARD = /[*?[\]{}!()\\]/
export const ANY_DEPTH = '**'

/** What is wrong with a glob; undefined for a good one. */
export function mediaGlobProblem(glob: string): string | undefined {
  if (!glob.startsWith('/')) return 'must be an absolute path'
  const segments = segmentsOf(glob)
  if (segments.includes('..')) return 'must not contain ..'
  if (glob.includes('\0')) return 'must not contain a null character'
  if (segments.length < 2 || isWildcard(segments[0] ?? ''))
    return 'must name a directory below / before its first wildcard'
  if (segments.some((each) => !isBalanced(each))) return 'must not contain / inside of braces or brackets'
  return undefined
}

/** Throws for a glob that {@link mediaGlobProblem} objects to. */
export function parseMediaGlob(glob: string): MediaGlob {
  const problem = mediaGlobProblem(glob)
  if (problem !== undefined) throw new Error(`media_globs: ${JSON.stringify(glob)} ${problem}`)
  const segments = segmentsOf(glob)
  const wildcard = segments.findIndex(isWildcard)
  const fixed = wildcard < 0 ? segments.length - 1 : Math.min(wildcard, segments.length - 1)
  const rest = segments
    .slice(fixed)
    .filter((each, at, all) => each !== ANY_DEPTH || all[at + 1] !== ANY_DEPTH)
  return {
    directory: `/${segments.slice(0, fixed).join('/')}`,
    // At the end it stands for all files.
    segments: rest.at(-1) === ANY_DEPTH ? [...rest, '*'] : rest,
  }
}

/** Whether a name matches a segment. As in a shell, a wildcard does not match a dot at the beginning. */
export function matchesSegment(name: string, segment: string): boolean {
  return isWildcard(segment) ? matchesGlob(name, segment) : name === segment
}

function segmentsOf(glob: string): string[] {
  return glob.split('/').filter((each) => each !== '' && each !== '.')
}

function isWildcard(segment: string): boolean {
  return WILDCARD.test(segment)
}

/** A brace or bracket that is not closed in its segment would match something else than the whole glob does. */
function isBalanced(segment: string): boolean {
  const count = (character: string) => segment.split(character).length
  return count('{') === count('}') && count('[') === count(']')
}
