import { matchesGlob } from 'node:path'
import { isWildcard, mediaGlobProblem, segmentsOf } from '../../../../src/config/backup-types.ts'

/** A checked glob of `media_globs`. */
export interface MediaGlob {
  /** The directory before the first wildcard. */
  readonly directory: string
  /** What follows below it; `**` stands for any number of directories. The last one names files. */
  readonly segments: readonly string[]
}

export const ANY_DEPTH = '**'

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
