import { closeSync, constants, fstatSync, openSync, readFileSync, type Stats } from 'node:fs'
import { ConfigError } from './config-error.ts'
import { shellWord } from '../kernel/text.ts'
import { errorCode } from '../kernel/errors.ts'

/** The error for a file that a setting needs. */
export function unusableFile(path: string, key: string, expected: string, got: string): ConfigError {
  return new ConfigError([{ source: `file ${path}`, key, expected, got }])
}

/** Throws a {@link ConfigError} when others than the owner have access. */
export function requirePrivate(path: string, key: string, { mode }: Pick<Stats, 'mode'>): void {
  if ((mode & 0o077) === 0) return
  throw unusableFile(
    path,
    key,
    `mode 600, for its owner alone (run: chmod 600 ${shellWord(path)})`,
    `mode ${(mode & 0o777).toString(8)}`,
  )
}

/** Opens a file for reading, and closes it after `use`. Opening a pipe without a writer does not block. */
export function withFile<T>(path: string, use: (file: number, stats: Stats) => T): T {
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    return use(file, fstatSync(file))
  } finally {
    closeSync(file)
  }
}

/** The text of a small file, without the space around it. Throws a {@link ConfigError} unless it is regular and private. */
export function readPrivateText(path: string, key: string, maxBytes: number): string {
  const fail = (expected: string, got: string) => unusableFile(path, key, expected, got)
  try {
    return withFile(path, (file, stats) => {
      if (!stats.isFile()) throw fail('a regular file', 'another kind of file')
      requirePrivate(path, key, stats)
      if (stats.size > maxBytes) throw fail(`at most ${maxBytes} bytes`, `${stats.size} bytes`)
      return readFileSync(file, 'utf8').trim()
    })
  } catch (error) {
    const code = errorCode(error)
    throw code === undefined ? error : fail('a file that this user can read', code)
  }
}
