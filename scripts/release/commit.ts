import { spawnSync } from 'node:child_process'
import { root } from '../runtime.mjs'

const DIRTY = '-dirty'

/** What a build says of where it comes from. */
export interface Commit {
  /** The first 12 digits, and `-dirty` if files differ from it. */
  readonly id: string
  /** Its day, as YYYYMMDD. */
  readonly day: string
}

/** The commit of the checkout; undefined without git, such as in an archive of the source. */
export function commitOf(checkout = root): Commit | undefined {
  const id = git(checkout, ['describe', '--always', '--exclude=*', '--abbrev=12', '--dirty'])
  const day = git(checkout, ['show', '-s', '--date=format:%Y%m%d', '--format=%cd', 'HEAD'])
  return id && day ? { id, day } : undefined
}

/** The version of a package: of a release that alone, else one that is newer with each day and names the commit. */
export function packageVersion(version: string, checkout = root): string {
  const commit = commitOf(checkout)
  const isRelease = isTagged(checkout, `v${version}`) && commit?.id.endsWith(DIRTY) === false
  return !commit || isRelease ? version : `${version}+git${commit.day}.${commit.id.replace('-', '.')}`
}

function isTagged(checkout: string, tag: string): boolean {
  return git(checkout, ['tag', '--points-at', 'HEAD'])?.split('\n').includes(tag) === true
}

function git(cwd: string, args: readonly string[]): string | undefined {
  // Not the repository of a directory above.
  const env = { ...process.env, GIT_CEILING_DIRECTORIES: `${cwd}/..` }
  const { status, stdout } = spawnSync('git', args, { cwd, env, encoding: 'utf8' })
  return status === 0 ? stdout.trim() : undefined
}
