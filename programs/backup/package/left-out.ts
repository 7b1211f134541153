/** A log that is not packed, with the reason. */
export interface SkippedLog {
  readonly path: string
  readonly reason: string
  /** A configured directory that is missing or cannot be read, and that is not optional. */
  readonly isMissingRoot?: boolean
}

/** What is not in a package. Names as in JSON: the manifest, the state and the outcome have the same object. */
export interface LeftOut {
  /** Number of files and directories. */
  readonly count: number
  /** The first left-out files, with the reasons. */
  readonly files: readonly Pick<SkippedLog, 'path' | 'reason'>[]
  /** The directories of `backup.logs` of which nothing was packed, and which no setting allows to be away. */
  readonly missing_roots: readonly string[]
}

const MOST_NAMED = 5

/** Undefined when the package has everything. */
export function leftOutOf(skipped: readonly SkippedLog[]): LeftOut | undefined {
  if (skipped.length === 0) return undefined
  return {
    count: skipped.length,
    files: skipped.slice(0, MOST_NAMED).map(({ path, reason }) => ({ path, reason })),
    missing_roots: skipped.filter(({ isMissingRoot }) => isMissingRoot).map(({ path }) => path),
  }
}

/** `not in the package: 7: /var/log/a (permission denied), …; and 2 more` */
export function leftOutText({ count, files }: LeftOut): string {
  const named = files.map(({ path, reason }) => `${path} (${reason})`).join(', ')
  const more = count - files.length
  return `not in the package: ${count}: ${named}${more > 0 ? `; and ${more} more` : ''}`
}
