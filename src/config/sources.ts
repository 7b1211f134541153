import { resolve } from 'node:path'
import type { Problem } from './config-error.ts'
import type { Environment } from './env.ts'
import { variablesOf, type Setting, type SettingTable } from './setting.ts'
import { dottedKey, parseInlineTable, readTomlFile, type TomlFile } from './toml-file.ts'
import { textOfToml, type ModuleName } from './value-types.ts'

export interface SourceOptions {
  /** From `--config`. */
  readonly configPath?: string | undefined
  /** From `--module`; takes precedence over all other sources. */
  readonly moduleOverride?: string | undefined
  readonly env: Environment
  /** The base of relative paths, and the directory where `platform.toml` is searched. */
  readonly cwd: string
  /** The path of the file that is tried last. */
  readonly systemConfigPath?: string
}

/** The value that a source gives for a setting. */
export interface GivenValue {
  /** Undefined when the file has a value of another type. */
  readonly text: string | undefined
  /** The value as the source has it. */
  readonly value: unknown
  readonly source: string
}

export type FirstFile = TomlFile & { readonly path: string | undefined }

/** The value of the source with the highest precedence; undefined when no source gives one. */
export function givenValue(
  { moduleOverride, env }: SourceOptions,
  file: TomlFile,
  key: string,
  setting: Setting,
  modules: readonly ModuleName[],
): GivenValue | undefined {
  if (key === 'module' && moduleOverride !== undefined) return givenText(moduleOverride, 'option --module')
  for (const { name, when, member } of variablesOf(key, setting)) {
    const text = readVariable(env, name)
    if (text === undefined || !(when?.holds(modules) ?? true)) continue
    const given =
      member === undefined ? givenText(text, `environment ${name}`) : givenMember(text, name, member)
    if (given) return given
  }
  const inFile = file.values.get(key)
  return inFile && { ...inFile, text: textOfToml(inFile.value, setting.type) }
}

function givenText(text: string, source: string): GivenValue {
  return { text, value: text, source }
}

/** Undefined when the table does not have the member. */
function givenMember(table: string, variable: string, member: string): GivenValue | undefined {
  const source = `environment ${variable}`
  const members = parseInlineTable(table)
  if (!members) return { text: undefined, value: table, source }
  if (!Object.hasOwn(members, member)) return undefined
  const value = members[member]
  return typeof value === 'string' || typeof value === 'number'
    ? givenText(String(value), source)
    : { text: undefined, value, source }
}

/** The members of tables in variables that are no settings. */
export function unknownMembers(settings: SettingTable, env: Environment): Problem[] {
  const members = Object.entries(settings).flatMap(([key, setting]) =>
    variablesOf(key, setting).flatMap(({ name, member }) =>
      member === undefined ? [] : [{ key, name, member }],
    ),
  )
  return [...Map.groupBy(members, ({ name }) => name)].flatMap(([name, known]) => {
    const table = known[0]?.key.split('.').slice(0, -1) ?? []
    return Object.keys(parseInlineTable(readVariable(env, name) ?? '') ?? {})
      .filter((each) => known.every(({ member }) => member !== each))
      .map((each) => ({
        source: `environment ${name}`,
        key: dottedKey([...table, each]),
        expected: 'a known key',
      }))
  })
}

/** A variable's value. An empty variable counts as unset: unit files and compose files cannot unset one. */
function readVariable(env: Environment, name: string): string | undefined {
  return env[name] === '' ? undefined : env[name]
}

/** Reads the first configuration file that exists; one that was named must exist. */
export function readFirstFile({ configPath, env, cwd, systemConfigPath }: SourceOptions): FirstFile {
  const variable = readVariable(env, 'PLATFORM_CONFIG')
  if (configPath !== undefined) return readNamed(configPath, 'option --config', cwd)
  if (variable !== undefined) return readNamed(variable, 'environment PLATFORM_CONFIG', cwd)
  const system = systemConfigPath ?? '/etc/platform/platform.toml'
  return readAt('platform.toml', cwd) ?? readAt(system, cwd) ?? noFile([])
}

function readNamed(path: string, source: string, cwd: string): FirstFile {
  const missing = { source, key: '', expected: 'a file that exists', got: JSON.stringify(path) }
  return readAt(path, cwd) ?? noFile([missing])
}

function readAt(path: string, cwd: string): FirstFile | undefined {
  const file = path === '' || path.includes('\0') ? 'absent' : readTomlFile(resolve(cwd, path), path)
  return file === 'absent' ? undefined : { path, ...file }
}

function noFile(problems: readonly Problem[]): FirstFile {
  const none = { commands: [], templates: [], channels: [], receivers: [], routes: [] }
  return { path: undefined, values: new Map(), ...none, problems }
}
