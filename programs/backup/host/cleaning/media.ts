import { matchesGlob } from 'node:path'
import { isWildcard, mediaGlobProblem, segmentsOf } from '../../../../src/config/backup-types.ts'
import { OpenDirectory } from '../open-directory.ts'
import { MAX_DEPTH } from './disk-usage.ts'
import { Removal } from './removal.ts'
import type { CleaningDeps, RunStep } from './step.ts'

/** Removes the regular files that match the globs; follows no link, and no mount below the first wildcard. */
export const cleanMedia: RunStep = async (deps) => {
  if (deps.mediaGlobs.length === 0) return { skipped: 'media_globs is empty' }
  // All globs are checked before the first file is removed.
  const globs = deps.mediaGlobs.map(parseMediaGlob)
  const removal = new Removal(deps.files, deps.protectedPaths)
  for (const { directory: path, segments } of globs) {
    using directory = OpenDirectory.open(path)
    if (directory) await new MediaSearch(directory, removal, deps).run(directory, segments)
  }
  return removal.outcome()
}

class MediaSearch {
  readonly #root: OpenDirectory
  readonly #removal: Removal
  readonly #signal: AbortSignal | undefined

  constructor(root: OpenDirectory, removal: Removal, { signal }: CleaningDeps) {
    this.#root = root
    this.#removal = removal
    this.#signal = signal
  }

  async run(directory: OpenDirectory, segments: readonly string[], depth = 0): Promise<void> {
    const [segment = '', ...rest] = segments
    if (segment === ANY_DEPTH) await this.run(directory, rest, depth)
    for await (const name of directory.names(this.#signal)) {
      const text = name.toString()
      if (segment === ANY_DEPTH) {
        if (!text.startsWith('.')) await this.#enter(directory, name, segments, depth)
      } else if (matchesSegment(text, segment)) {
        if (rest.length > 0) await this.#enter(directory, name, rest, depth)
        else this.#remove(directory, name)
      }
    }
  }

  #remove(directory: OpenDirectory, name: Buffer): void {
    const stats = directory.stat(name)
    if (stats?.isFile()) this.#removal.file(directory, name, stats)
  }

  async #enter(
    parent: OpenDirectory,
    name: Buffer,
    segments: readonly string[],
    depth: number,
  ): Promise<void> {
    if (depth === MAX_DEPTH) return
    using child = parent.child(name)
    if (!child?.isOnMountOf(this.#root) || this.#removal.isProtected(child)) return
    await this.run(child, segments, depth + 1)
  }
}

/** A checked glob of `media_globs`. */
interface MediaGlob {
  /** The directory before the first wildcard. */
  readonly directory: string
  /** The segments below it; `**` stands for any number of directories. The last segment names files. */
  readonly segments: readonly string[]
}

const ANY_DEPTH = '**'

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
    // A last segment `**` stands for all files.
    segments: rest.at(-1) === ANY_DEPTH ? [...rest, '*'] : rest,
  }
}

/** Whether a name matches a segment. As in a shell, a wildcard does not match a dot at the beginning. */
function matchesSegment(name: string, segment: string): boolean {
  return isWildcard(segment) ? matchesGlob(name, segment) : name === segment
}
