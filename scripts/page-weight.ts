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
export const WEIGHT_LIMIT = 150_000

/** Compressed bytes of the entry with its styles, and of the heaviest part that is loaded after it. */
export function pageWeight(files: readonly BuiltFile[]): number {
  const byName = new Map(files.map((file) => [file.fileName, file]))
  const scripts = files.filter(({ fileName }) => fileName.endsWith('.js'))
  const entries = scripts.filter(({ isEntry }) => isEntry).map(({ fileName }) => fileName)
  const first = closure(entries, byName)
  const later = [...first].flatMap((name) => byName.get(name)?.dynamicImports ?? [])
  const heaviest = Math.max(
    0,
    ...later.map((name) => bytesOf(closure([name], byName).difference(first), byName)),
  )
  const styles = files.filter(({ fileName }) => fileName.endsWith('.css')).map(({ fileName }) => fileName)
  return bytesOf(new Set([...first, ...styles]), byName) + heaviest
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
