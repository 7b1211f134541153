import { resolve } from 'node:path'
import type { Problem } from './config-error.ts'
import { SETTINGS } from './schema.ts'
import type { EnvironmentVariable, SettingKey } from './schema.ts'
import { readTomlFile } from './toml-file.ts'
import type { TomlFile } from './toml-file.ts'
import type { ModuleName } from './value-types.ts'

/** Environment variables by name. */
export type Environment = Readonly<Record<string, string | undefined>>

/** The environment of this process; read here only, so that everything else can be given another. */
export function processEnvironment(): Environment {
  return process.env
}

export interface SourceOptions {
  /** From `--config`. */
  readonly configPath?: string | undefined
  /** From `--module`; beats everything. */
  readonly moduleOverride?: string | undefined
  readonly env: Environment
  /** Where relative paths start and `platform.toml` is looked for. */
  readonly cwd: string
  /** Looked for last. */
  readonly systemConfigPath?: string
}

/** What was given for a setting, not yet judged: TOML has types of its own, options and variables have only text. */
export type GivenValue =
  | { readonly form: 'toml'; readonly value: unknown; readonly source: string }
  | { readonly form: 'text'; readonly value: string; readonly source: string }

/** File, environment and options, as far as they can be read. */
export interface ConfigSources {
  /** The configuration file that was found. */
  readonly file: string | undefined
  readonly problems: readonly Problem[]
  /** What was given for a setting where it counts most, undefined when nothing was. */
  given(key: SettingKey, modules: readonly ModuleName[]): GivenValue | undefined
}

export function openSources(options: SourceOptions): ConfigSources {
  const file = findFile(options)
  const lookups: Lookup[] = [
    (key) => optionValue(options.moduleOverride, key),
    (key, modules) => environmentValue(options.env, SETTINGS[key].environment, modules),
    (key) => fileValue(file, key),
  ]
  const given = (key: SettingKey, modules: readonly ModuleName[]): GivenValue | undefined => {
    for (const lookup of lookups) {
      const found = lookup(key, modules)
      if (found) return found
    }
    return undefined
  }
  return { file: file.path, problems: file.problems, given }
}

type Lookup = (key: SettingKey, modules: readonly ModuleName[]) => GivenValue | undefined

function optionValue(moduleOverride: string | undefined, key: SettingKey): GivenValue | undefined {
  if (key !== 'module' || moduleOverride === undefined) return undefined
  return { value: moduleOverride, form: 'text', source: 'option --module' }
}

function environmentValue(
  env: Environment,
  variables: readonly EnvironmentVariable[],
  modules: readonly ModuleName[],
): GivenValue | undefined {
  for (const { name, when } of variables) {
    const value = setVariable(env, name)
    if (value !== undefined && (when?.holds(modules) ?? true)) {
      return { value, form: 'text', source: `environment ${name}` }
    }
  }
  return undefined
}

/** An empty variable counts as unset: unit files and compose files cannot take one away. */
function setVariable(env: Environment, name: string): string | undefined {
  return env[name] === '' ? undefined : env[name]
}

function fileValue(file: TomlFile, key: SettingKey): GivenValue | undefined {
  const found = file.values.get(key)
  return found && { ...found, form: 'toml' }
}

interface FoundFile extends TomlFile {
  readonly path: string | undefined
}

function findFile(options: SourceOptions): FoundFile {
  const { configPath, env, cwd, systemConfigPath = '/etc/platform/platform.toml' } = options
  const variable = setVariable(env, 'PLATFORM_CONFIG')
  if (configPath !== undefined) return namedFile(configPath, 'option --config', cwd)
  if (variable !== undefined) return namedFile(variable, 'environment PLATFORM_CONFIG', cwd)
  return fileAt('platform.toml', cwd) ?? fileAt(systemConfigPath, cwd) ?? withoutFile([])
}

function namedFile(path: string, source: string, cwd: string): FoundFile {
  const usable = path !== '' && !path.includes('\0')
  const missing = { source, key: '', expected: 'a file that exists', got: JSON.stringify(path) }
  return (usable ? fileAt(path, cwd) : undefined) ?? withoutFile([missing])
}

function fileAt(path: string, cwd: string): FoundFile | undefined {
  const file = readTomlFile(resolve(cwd, path), path)
  return file === 'absent' ? undefined : { path, ...file }
}

function withoutFile(problems: readonly Problem[]): FoundFile {
  return { path: undefined, values: new Map(), problems }
}
