import { gzipSync } from 'node:zlib'

/** A file of a built page, as the bundler reports it. */
export interface BuiltFile {
  readonly fileName: string
  readonly content: string | Uint8Array
  readonly isEntry: boolean
  /** The files that are loaded with it. */
  readonly imports: readonly string[]
  /** The files that are loaded when they are needed. */
  readonly dynamicImports: readonly string[]
}

/** The most that a browser loads until a page is shown, compressed. */
export const WEIGHT_LIMIT = 100_000

/** Compressed bytes of the entry with its styles, and of the heaviest parts that are loaded one after the other behind it. */
export function pageWeight(files: readonly BuiltFile[]): number {
  const byName = new Map(files.map((file) => [file.fileName, file]))
  const scripts = files.filter(({ fileName }) => fileName.endsWith('.js'))
  const entries = scripts.filter(({ isEntry }) => isEntry).map(({ fileName }) => fileName)
  const first = closure(entries, byName)
  const styles = files.filter(({ fileName }) => fileName.endsWith('.css')).map(({ fileName }) => fileName)
  return bytesOf(new Set([...first, ...styles]), byName) + heaviestBehind(first, first, byName)
}

/** What the files that were loaded last load next, when they are needed. */
function heaviestBehind(last: ReadonlySet<string>, loaded: ReadonlySet<string>, byName: ByName): number {
  const later = [...last].flatMap((name) => byName.get(name)?.dynamicImports ?? [])
  const weights = later.map((name) => {
    const added = closure([name], byName).difference(loaded)
    return bytesOf(added, byName) + heaviestBehind(added, loaded.union(added), byName)
  })
  return Math.max(0, ...weights)
}

type ByName = ReadonlyMap<string, BuiltFile>

function closure(names: readonly string[], byName: ByName): Set<string> {
  const reached = new Set<string>()
  // Grows while it is read.
  const waiting = [...names]
  for (const name of waiting) {
    if (reached.has(name)) continue
    reached.add(name)
    waiting.push(...(byName.get(name)?.imports ?? []))
  }
  return reached
}

function bytesOf(names: Iterable<string>, byName: ByName): number {
  return [...names].reduce((sum, name) => sum + gzipSync(byName.get(name)?.content ?? '').length, 0)
}
