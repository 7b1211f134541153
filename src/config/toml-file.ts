import { readFileSync, statSync } from 'node:fs'
import { parse, TomlError } from 'smol-toml'
import type { ProgramCommand } from '../kernel/command.ts'
import { parseTemplate, type TemplateText } from './backup-templates.ts'
import { parseCommand } from './commands.ts'
import { parsePaymentChannel, type PaymentChannelConfig } from './payments.ts'
import { parseReceiver, parseRoutes, type ReceiverConfig, type RouteConfig } from './receivers.ts'
import { type Problem, didYouMean } from './config-error.ts'
import { SETTING_TABLE } from './schema.ts'
import { TableReader, type KeyPath } from './table-reader.ts'
import { shellWord } from '../kernel/text.ts'
import { errorCode } from '../kernel/errors.ts'

/** A configuration file: the value of each key, and the errors in the file other than invalid values. */
export interface TomlFile {
  readonly values: ReadonlyMap<string, { readonly value: unknown; readonly source: string }>
  /** The tables `[commands.<id>]`, each with its place. */
  readonly commands: readonly (ProgramCommand & { readonly source: string })[]
  /** The texts of the tables `[backup.templates."<alert>"]`. */
  readonly templates: readonly TemplateText[]
  /** The tables `[payments.channels.<name>]`. */
  readonly channels: readonly PaymentChannelConfig[]
  /** The tables `[receivers.<name>]`. */
  readonly receivers: readonly ReceiverConfig[]
  /** The tables `[[alerts.routes]]`, in their order. */
  readonly routes: readonly RouteConfig[]
  readonly problems: readonly Problem[]
}

const KEYS = new Set(Object.keys(SETTING_TABLE))
const TABLES = new Set([
  ...[...KEYS].flatMap(tablesAround),
  'backup.templates',
  'payments.channels',
  'receivers',
])

function tablesAround(key: string): string[] {
  const parts = key.split('.')
  return parts.slice(1).map((_, index) => parts.slice(0, index + 1).join('.'))
}

// A configuration has a few kilobytes. A larger file is not a configuration.
const LARGEST_BYTES = 65_536

/** Reads a configuration file; `'absent'` when there is none at that path, any other failure is a problem. */
export function readTomlFile(path: string, shownAs: string): TomlFile | 'absent' {
  const source = `file ${shownAs}`
  try {
    const { size } = statSync(path)
    if (size > LARGEST_BYTES) return unusableFile(source, 'at most 64 KiB of TOML', `${size} bytes`)
    return parseToml(readFileSync(path), source)
  } catch (error) {
    const code = errorCode(error)
    if (code === 'ENOENT' || code === 'ENOTDIR') return 'absent'
    if (code === 'ERR_ENCODING_INVALID_ENCODED_DATA') return unusableFile(source, 'text in UTF-8')
    if (code === 'EACCES') return unusableFile(source, readableFor(path), code)
    if (code !== undefined) return unusableFile(source, 'a readable file', code)
    throw error
  }
}

/** Whether nothing is in the file, not even a comment. A pipe has nothing left after it was read once. */
export function isEmptyFile(path: string): boolean {
  return statSync(path).isFile() && readFileSync(path, 'utf8').trim() === ''
}

/** The owner stays, since only the administrator may be meant to change the file. */
function readableFor(path: string): string {
  const [user, group] = [process.geteuid?.(), process.getegid?.()]
  const name = shellWord(path)
  return `a file that the user ${user} can read (run as root: chgrp ${group} ${name} && chmod g+r ${name}; the directories above it must be accessible, too)`
}

/** A file without values. */
export function emptyFile(problems: readonly Problem[]): TomlFile {
  const tables = { commands: [], templates: [], channels: [], receivers: [], routes: [] }
  return { values: new Map(), ...tables, problems }
}

function unusableFile(source: string, expected: string, got?: string): TomlFile {
  return emptyFile([{ source, key: '', expected, got }])
}

function parseToml(bytes: Uint8Array, source: string): TomlFile {
  const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  try {
    return readDocument(parse(text, { maxDepth: 64 }), text, source)
  } catch (error) {
    if (!(error instanceof TomlError)) throw error
    // Only the first line: after it the parser shows an excerpt of the file, which may hold a secret.
    const reason = error.message.split('\n', 1)[0]?.replace('Invalid TOML document: ', '')
    return unusableFile(`${source}:${error.line}`, `valid TOML (column ${error.column}: ${reason})`)
  }
}

function readDocument(document: object, text: string, file: string): TomlFile {
  const lineOf = locateKeys(text)
  const sourceOf = (path: KeyPath): string => {
    const line = lineOf(path)
    return line === undefined && path.length > 1 ? sourceOf(path.slice(0, -1)) : `${file}:${line}`
  }
  const values = new Map<string, { value: unknown; source: string }>()
  const commands: TomlFile['commands'][number][] = []
  const templates: TemplateText[] = []
  const channels: PaymentChannelConfig[] = []
  const receivers: ReceiverConfig[] = []
  const routes: RouteConfig[] = []
  const problems: Problem[] = []
  for (const [path, value] of entriesOf(document, [])) {
    const key = dottedKey(path)
    const source = sourceOf(path)
    const name = path.at(-1) ?? ''
    const entry = () => new TableReader(path, value, sourceOf, problems)
    if (KEYS.has(key)) values.set(key, { value, source })
    else if (isIn('commands', path) && isTable(value)) {
      const command = parseCommand(name, entry())
      if (command) commands.push({ ...command, source })
    } else if (isIn('backup.templates', path)) templates.push(...parseTemplate(name, entry()))
    else if (isIn('payments.channels', path)) add(channels, parsePaymentChannel(name, entry()))
    else if (isIn('receivers', path)) add(receivers, parseReceiver(name, entry()))
    else if (key === 'alerts.routes')
      routes.push(...parseRoutes(new TableReader(['alerts'], { routes: value }, sourceOf, problems)))
    else problems.push({ source, key, expected: expectedInstead(path) })
  }
  return { values, commands, templates, channels, receivers, routes, problems }
}

function add<T>(list: T[], item: T | undefined): void {
  if (item !== undefined) list.push(item)
}

/** Whether the path is of an entry in this table. */
function isIn(table: string, path: KeyPath): boolean {
  return path.slice(0, -1).join('.') === table
}

/** The keys of a document with their values; a table of settings is replaced by its keys. */
function entriesOf(table: object, outer: KeyPath): (readonly [path: KeyPath, value: unknown])[] {
  return Object.entries(table).flatMap(([name, value]) => {
    const path = [...outer, name]
    return isTable(value) && TABLES.has(dottedKey(path)) ? entriesOf(value, path) : [[path, value] as const]
  })
}

function isTable(value: unknown): value is object {
  return Object.prototype.toString.call(value) === '[object Object]'
}

export function dottedKey(path: KeyPath): string {
  return path.map((part) => (/^[A-Za-z0-9_-]+$/.test(part) ? part : JSON.stringify(part))).join('.')
}

function expectedInstead(path: KeyPath): string {
  const key = dottedKey(path)
  const isInCommands = isIn('commands', path)
  const known = [...KEYS, ...TABLES].filter((each) => !isInCommands || each.startsWith('commands.'))
  const suggestion = didYouMean(key, known)
  const isTableExpected = TABLES.has(key) || (isInCommands && suggestion === '')
  return isTableExpected ? `a table [${key}]` : `a known key${suggestion}`
}

/** The members of an inline table of TOML, or of an object of JSON; undefined for any other text. */
export function parseInlineTable(text: string): Readonly<Record<string, unknown>> | undefined {
  // An object of JSON is a table of TOML with other signs after its keys.
  const toml = text.replaceAll(/("[^"\\]*")\s*:/g, '$1 =')
  try {
    const { table, ...others } = parse(`table = ${toml}`)
    if (!isTable(table) || Object.keys(others).length > 0) return undefined
    return Object.fromEntries<unknown>(Object.entries(table))
  } catch {
    return undefined
  }
}

/** The line (from 1) that first names a key, undefined when no line does. */
type LineOf = (path: KeyPath) => number | undefined

/** Finds the lines of keys in a text that the TOML parser has accepted; the parser itself keeps no positions. */
export function locateKeys(toml: string): LineOf {
  const lines = new Map<string, number>()
  let table: KeyPath = []
  /** The same without the numbers. */
  let plain: KeyPath = []
  /** How many tables each array `[[…]]` has so far. */
  const lengths = new Map<string, number>()
  for (const { text, line } of statements(toml)) {
    const isHeader = text.trimStart().startsWith('[')
    const header = isHeader ? pathsIn(parse(text), []) : []
    if (isHeader) {
      plain = header.at(-1) ?? []
      table = tableOf(plain, text.trimStart().startsWith('[['), lengths)
    }
    const paths = isHeader
      ? [...header, table]
      : [table, plain].flatMap((outer) => pathsIn(parse(text), outer))
    for (const path of paths) {
      const key = JSON.stringify(path)
      if (!lines.has(key)) lines.set(key, line)
    }
  }
  return (path) => lines.get(JSON.stringify(path))
}

/** The path of a table with the number, from 1, of each table of an array: `alerts.routes.2.hours`. */
function tableOf(header: KeyPath, isArray: boolean, lengths: Map<string, number>): KeyPath {
  return header.reduce<KeyPath>((outer, name, index) => {
    const path = [...outer, name]
    const key = JSON.stringify(path)
    const isLast = index === header.length - 1
    const length = (lengths.get(key) ?? 0) + (isLast && isArray ? 1 : 0)
    if (isLast && isArray) lengths.set(key, length)
    return length > 0 ? [...path, String(length)] : path
  }, [])
}

/** What decides where a statement ends: texts, comments, brackets and line ends. */
const TOKENS = [
  /"""(?:\\[^]|(?!""")[^\\])*"{3,5}/,
  /'''[^]*?'{3,5}/,
  /"(?:\\.|[^"\\\n])*"/,
  /'[^'\n]*'/,
  /#.*/,
  /[[\]{}\n]/,
]
const TOKEN = new RegExp(TOKENS.map(({ source }) => source).join('|'), 'g')

/** The headers and entries of a text that the parser has accepted, each with the line of its beginning. Reads it once. */
export function* statements(toml: string): Generator<{ text: string; line: number }> {
  let depth = 0
  let line = 1
  let begin = { index: 0, line }
  for (const { 0: token, index } of toml.matchAll(TOKEN)) {
    if (token === '[' || token === '{') depth++
    else if (token === ']' || token === '}') depth--
    line += token.split('\n').length - 1
    if (token !== '\n' || depth > 0) continue
    yield { text: toml.slice(begin.index, index + 1), line: begin.line }
    begin = { index: index + 1, line }
  }
  yield { text: toml.slice(begin.index), line: begin.line }
}

/** The path of each key in a table and in the tables inside it, outer ones first. */
function pathsIn(table: object, outer: KeyPath): KeyPath[] {
  return Object.entries(table).flatMap(([name, value]) => {
    const path = [...outer, name]
    const isTable = typeof value === 'object' && value !== null && !Array.isArray(value)
    return [path, ...(isTable ? pathsIn(value as object, path) : [])]
  })
}
