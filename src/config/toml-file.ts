import { readFileSync, statSync } from 'node:fs'
import { parse, TomlError } from 'smol-toml'
import type { ProgramCommand } from '../kernel/command.ts'
import { parseTemplate, type TemplateText } from './backup-templates.ts'
import { parseCommand } from './commands.ts'
import { parsePaymentChannel, type PaymentChannelConfig } from './payments.ts'
import { parseReceiver, parseRoutes, type ReceiverConfig, type RouteConfig } from './receivers.ts'
import { type Problem, didYouMean } from './config-error.ts'
import { SETTING_TABLE } from './schema.ts'
import { locateKeys, type KeyPath } from './toml-lines.ts'
import { shellWord } from '../kernel/text.ts'

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
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    if (code === 'ENOENT' || code === 'ENOTDIR') return 'absent'
    if (code === 'ERR_ENCODING_INVALID_ENCODED_DATA') return unusableFile(source, 'text in UTF-8')
    if (code === 'EACCES') return unusableFile(source, readableFor(path), code)
    if (typeof code === 'string') return unusableFile(source, 'a readable file', code)
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

function unusableFile(source: string, expected: string, got?: string): TomlFile {
  return {
    values: new Map(),
    commands: [],
    templates: [],
    channels: [],
    receivers: [],
    routes: [],
    problems: [{ source, key: '', expected, got }],
  }
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
    if (KEYS.has(key)) values.set(key, { value, source })
    else if (isCommand(path, value)) {
      const command = parseCommand(path[1], value, sourceOf, problems)
      if (command) commands.push({ ...command, source })
    } else if (isTemplate(path)) templates.push(...parseTemplate(path[2], value, sourceOf, problems))
    else if (isChannel(path)) {
      const channel = parsePaymentChannel(path[2], value, sourceOf, problems)
      if (channel) channels.push(channel)
    } else if (isReceiver(path)) {
      const receiver = parseReceiver(path[1], value, sourceOf, problems)
      if (receiver) receivers.push(receiver)
    } else if (key === 'alerts.routes') routes.push(...parseRoutes(value, sourceOf, problems))
    else problems.push({ source, key, expected: expectedInstead(path) })
  }
  return { values, commands, templates, channels, receivers, routes, problems }
}

/** A value that is no table is a setting with a wrong name. */
function isCommand(path: KeyPath, value: unknown): path is readonly [string, string] {
  return isCommandName(path) && isTable(value)
}

function isCommandName(path: KeyPath): boolean {
  return path.length === 2 && path[0] === 'commands'
}

function isTemplate(path: KeyPath): path is readonly [string, string, string] {
  return path.length === 3 && path[0] === 'backup' && path[1] === 'templates'
}

function isChannel(path: KeyPath): path is readonly [string, string, string] {
  return path.length === 3 && path[0] === 'payments' && path[1] === 'channels'
}

function isReceiver(path: KeyPath): path is readonly [string, string] {
  return path.length === 2 && path[0] === 'receivers'
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
  const isInCommands = isCommandName(path)
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
