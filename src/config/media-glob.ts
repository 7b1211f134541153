const WILDCARD = /[*?[\]{}!()\\]/

/** What is wrong with a glob of `backup.media_globs`; undefined for a good one. */
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

/** The parts of a glob between its slashes. */
export function segmentsOf(glob: string): string[] {
  return glob.split('/').filter((each) => each !== '' && each !== '.')
}

/** Whether a segment stands for more than one name. */
export function isWildcard(segment: string): boolean {
  return WILDCARD.test(segment)
}

/** A brace or bracket that is not closed in its segment would match something else than the whole glob does. */
function isBalanced(segment: string): boolean {
  const count = (character: string) => segment.split(character).length
  return count('{') === count('}') && count('[') === count(']')
}
