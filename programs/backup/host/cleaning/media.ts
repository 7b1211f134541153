import { OpenDirectory } from '../open-directory.ts'
import { MAX_DEPTH } from './disk-usage.ts'
import { ANY_DEPTH, matchesSegment, parseMediaGlob } from './media-glob.ts'
import { Removal } from './removal.ts'
import type { CleaningDeps, RunStep } from './step.ts'

/** Removes the regular files that match the globs; follows no link, and no mount below the first wildcard. */
export const cleanMedia: RunStep = async (deps) => {
  if (deps.mediaGlobs.length === 0) return { skipped: 'media_globs is empty' }
  // All are checked before the first file is removed.
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
