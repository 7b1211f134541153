import { hostname } from 'node:os'
import { resolve } from 'node:path'
import { describeValue, type Problem } from './config-error.ts'
import type { Environment } from './env.ts'
import { variablesOf, type DefaultContext, type Setting, type SettingTable } from './setting.ts'
import { dottedKey, emptyFile, parseInlineTable, readTomlFile, type TomlFile } from './toml-file.ts'
import { MODULES, textOfToml, type ModuleName } from './value-types.ts'

/** The value of a setting, undefined when it is unset or wrong, and where it came from. */
export interface Resolved {
  readonly value: unknown
  readonly source: string
  readonly problem?: Problem | undefined
}

export interface ResolveOptions extends SourceOptions {
  /** Whether the log goes to a terminal. */
  readonly terminal?: boolean
}

const DEFAULT = 'default'

/** Checks the configured value, or the default, of each setting. Never throws: each result has its value or its problem. */
export function resolveSettings(
  settings: SettingTable,
  file: TomlFile,
  options: ResolveOptions,
): ReadonlyMap<string, Resolved> {
  const resolved = new Map<string, Resolved>()
  const context = {
    hostName: hostname(),
    terminal: options.terminal ?? false,
    timeZoneVariable: options.env['TZ'],
    valueOf: (key: string) => resolved.get(key)?.value,
  }
  for (const [key, setting] of Object.entries(settings)) {
    const modules = (context.valueOf('module') ?? MODULES) as readonly ModuleName[]
    const value =
      configuredValue(options, file, key, setting, modules) ?? defaultValue(setting, { ...context, modules })
    resolved.set(key, check(key, setting, value, options.cwd))
  }
  return new Map(
    [...resolved].map(([key, setting]) => [key, checkOthers(key, settings[key], setting, resolved)]),
  )
}

function defaultValue(setting: Setting, context: DefaultContext): ConfiguredValue {
  const text = typeof setting.default === 'function' ? setting.default(context) : setting.default
  return { text, value: text, source: DEFAULT }
}

function check(
  key: string,
  { type, secret }: Setting,
  { text, value: configured, source }: ConfiguredValue,
  cwd: string,
): Resolved {
  const value = text === undefined ? undefined : type.parse(text, cwd)
  if (source === DEFAULT || value !== undefined) return { value, source }
  const item = text === undefined ? undefined : type.faultyItem?.(text)
  if (item)
    return { value, source, problem: { source, key: `${key}[${item.index}]`, expected: item.expected } }
  const got = secret ? undefined : describeValue(configured)
  return { value, source, problem: { source, key, expected: type.expected, got } }
}

/** Checks a setting against the others. */
function checkOthers(
  key: string,
  { needs = [], expectedBeside }: Partial<Setting> = {},
  setting: Resolved,
  resolved: ReadonlyMap<string, Resolved>,
): Resolved {
  const { source, problem, value } = setting
  if (problem || source === DEFAULT) return setting
  const missing = [needs].flat().find((needed) => resolved.get(needed)?.source === DEFAULT)
  if (missing !== undefined) return { ...setting, problem: { source, key, expected: `${missing} beside it` } }
  const expected = expectBeside(() => expectedBeside?.(value, (other) => valueOf(resolved.get(other))))
  return expected === undefined ? setting : { ...setting, problem: { source, key, expected } }
}

class FaultySetting extends Error {}

function valueOf(setting: Resolved | undefined): unknown {
  if (setting?.problem) throw new FaultySetting()
  return setting?.value
}

/** A comparison with a faulty setting says nothing: that setting has its own problem. */
function expectBeside(compare: () => string | undefined): string | undefined {
  try {
    return compare()
  } catch (error) {
    if (error instanceof FaultySetting) return undefined
    throw error
  }
}

interface SourceOptions {
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

/** The value of a setting in one of the sources. */
interface ConfiguredValue {
  /** Undefined when the file has a value of another type. */
  readonly text: string | undefined
  /** The value as the source has it. */
  readonly value: unknown
  readonly source: string
}

type FirstFile = TomlFile & { readonly path: string | undefined }

/** The value of the source with the highest precedence; undefined when no source has one. */
function configuredValue(
  { moduleOverride, env }: SourceOptions,
  file: TomlFile,
  key: string,
  setting: Setting,
  modules: readonly ModuleName[],
): ConfiguredValue | undefined {
  if (key === 'module' && moduleOverride !== undefined) return textFrom(moduleOverride, 'option --module')
  for (const { name, when, member } of variablesOf(key, setting)) {
    const text = readVariable(env, name)
    if (text === undefined || !(when?.holds(modules) ?? true)) continue
    const source = `environment ${name}`
    const value = member === undefined ? textFrom(text, source) : memberFrom(text, source, member)
    if (value) return value
  }
  const inFile = file.values.get(key)
  return inFile && { ...inFile, text: textOfToml(inFile.value, setting.type) }
}

function textFrom(text: string, source: string): ConfiguredValue {
  return { text, value: text, source }
}

/** Undefined when the table does not have the member. */
function memberFrom(table: string, source: string, member: string): ConfiguredValue | undefined {
  const members = parseInlineTable(table)
  if (!members) return { text: undefined, value: table, source }
  if (!Object.hasOwn(members, member)) return undefined
  const value = members[member]
  return typeof value === 'string' || typeof value === 'number'
    ? textFrom(String(value), source)
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
  return { path: undefined, ...emptyFile(problems) }
}
