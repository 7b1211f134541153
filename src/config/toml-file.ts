import { readFileSync, statSync } from 'node:fs'
import { parse, TomlError } from 'smol-toml'
import type { Problem } from './config-error.ts'
import { BACKUP_KEYS, SETTING_LIST } from './schema.ts'
import { didYouMean } from './suggestions.ts'
import { locateKeys } from './toml-lines.ts'
import type { KeyPath, LineOf } from './toml-lines.ts'

/** A value as the file holds it. */
export interface FileValue {
  readonly value: unknown
  readonly source: string
}

/** What a configuration file says: values by their dotted key, and what is wrong with it apart from them. */
export interface TomlFile {
  readonly values: ReadonlyMap<string, FileValue>
  readonly problems: readonly Problem[]
}

const KNOWN_KEYS: ReadonlySet<string> = new Set([...SETTING_LIST.map(([key]) => key), ...BACKUP_KEYS])
const KNOWN_TABLES: ReadonlySet<string> = new Set([...KNOWN_KEYS].flatMap(tablesAround))
const CANDIDATES = [...KNOWN_KEYS, ...KNOWN_TABLES]

function tablesAround(key: string): string[] {
  const parts = key.split('.')
  return parts.slice(1).map((_, index) => parts.slice(0, index + 1).join('.'))
}

// No configuration comes near it: a larger file is a wrong file, and is not worth its memory.
const LARGEST_BYTES = 1_048_576

/** Reads a configuration file, `'absent'` when there is none at that path; anything else wrong is a problem. */
export function readTomlFile(path: string, shownAs: string): TomlFile | 'absent' {
  const source = `file ${shownAs}`
  try {
    const { size } = statSync(path)
    if (size > LARGEST_BYTES) return unusable(source, 'at most 1 MiB of TOML', `${size} bytes`)
    return parseToml(readFileSync(path), source)
  } catch (error) {
    const code = errorCode(error)
    return code === 'ENOENT' || code === 'ENOTDIR' ? 'absent' : unusable(source, 'a readable file', code)
  }
}

function errorCode(error: unknown): string {
  if (error instanceof Error && 'code' in error && typeof error.code === 'string') return error.code
  throw error
}

function unusable(source: string, expected: string, got?: string): TomlFile {
  return {
    values: new Map(),
    problems: [{ source, key: '', expected, ...(got === undefined ? {} : { got }) }],
  }
}

/** Reads the text of a configuration file; `source` names it in what is reported. */
function parseToml(bytes: Uint8Array, source: string): TomlFile {
  const text = decodeUtf8(bytes)
  if (text === undefined) return unusable(source, 'text in UTF-8')
  try {
    return flatten(parse(text, { maxDepth: 64 }), locateKeys(text), source)
  } catch (error) {
    if (error instanceof TomlError) return syntaxProblem(error, source)
    throw error
  }
}

function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return undefined
  }
}

function syntaxProblem(error: TomlError, source: string): TomlFile {
  // Only the first line: the parser goes on with an excerpt of the file, which may hold a secret.
  const reason = error.message.split('\n', 1)[0]?.replace('Invalid TOML document: ', '')
  return unusable(`${source}:${error.line}`, `valid TOML (column ${error.column}: ${reason})`)
}

function flatten(document: object, lineOf: LineOf, source: string): TomlFile {
  const values = new Map<string, FileValue>()
  const problems: Problem[] = []
  visitTable(document, [], (path, value) => {
    const key = dottedKey(path)
    const line = lineOf(path)
    const place = line === undefined ? source : `${source}:${line}`
    if (KNOWN_KEYS.has(key)) values.set(key, { value, source: place })
    else if (KNOWN_TABLES.has(key)) problems.push({ source: place, key, expected: `a table [${key}]` })
    else problems.push({ source: place, key, expected: `a known key${didYouMean(key, CANDIDATES)}` })
  })
  return { values, problems }
}

/** Tells of everything that is no table known to hold settings. */
function visitTable(table: object, path: KeyPath, visit: (path: KeyPath, value: unknown) => void): void {
  for (const [name, value] of Object.entries(table)) {
    const inner = [...path, name]
    if (isTable(value) && KNOWN_TABLES.has(dottedKey(inner))) visitTable(value, inner, visit)
    else visit(inner, value)
  }
}

function isTable(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date)
}

function dottedKey(path: KeyPath): string {
  return path.map((part) => (/^[A-Za-z0-9_-]+$/.test(part) ? part : JSON.stringify(part))).join('.')
}
