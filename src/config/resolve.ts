import { hostname } from 'node:os'
import { describeFound } from './config-error.ts'
import type { Problem } from './config-error.ts'
import type { ConfigSources, GivenValue } from './env.ts'
import { SETTING_LIST, SETTINGS } from './schema.ts'
import type { DefaultContext, Setting, SettingKey } from './schema.ts'
import { MODULES } from './value-types.ts'

/** What a setting came to, and from where. */
export interface Resolved<T> {
  /** Undefined for what is unset, or wrong. */
  readonly value: T | undefined
  readonly source: string
  readonly problem?: Problem
}

export type ResolvedSettings = ReadonlyMap<SettingKey, Resolved<unknown>>

/** Judges what was given for each setting, or its default. Nothing is thrown: problems stand beside the values. */
export function resolveAll(sources: ConfigSources, cwd: string, terminal: boolean): ResolvedSettings {
  const first: DefaultContext = { hostName: hostname(), terminal, modules: MODULES, dataDir: cwd }
  // Variables and defaults of the others depend on these two, which depend on nothing.
  const modules = resolveSetting('module', SETTINGS.module, { sources, context: first, cwd }).value ?? MODULES
  const dataDir = resolveSetting('data_dir', SETTINGS.data_dir, { sources, context: first, cwd }).value ?? cwd
  const surroundings = { sources, context: { ...first, modules, dataDir }, cwd }
  return new Map(SETTING_LIST.map(([key, setting]) => [key, resolveSetting(key, setting, surroundings)]))
}

interface Surroundings {
  readonly sources: ConfigSources
  readonly context: DefaultContext
  readonly cwd: string
}

function resolveSetting<T>(key: SettingKey, setting: Setting<T>, surroundings: Surroundings): Resolved<T> {
  const { sources, context, cwd } = surroundings
  const given = sources.given(key, context.modules) ?? defaultValue(setting, context)
  if (!given) return { value: undefined, source: 'default' }
  const { type } = setting
  const value = given.form === 'toml' ? type.fromToml(given.value, cwd) : type.fromText(given.value, cwd)
  const problem = value === undefined ? { problem: wrongValue(key, setting, given) } : {}
  return { value, source: given.source, ...problem }
}

function defaultValue(setting: Setting<unknown>, context: DefaultContext): GivenValue | undefined {
  const text = typeof setting.default === 'function' ? setting.default(context) : setting.default
  return text === undefined ? undefined : { value: text, form: 'text', source: 'default' }
}

function wrongValue(
  key: SettingKey,
  { type, secret }: Setting<unknown>,
  { value, source }: GivenValue,
): Problem {
  return { source, key, expected: type.expected, ...(secret ? {} : { got: describeFound(value) }) }
}

/** Whether a value was given, be it right or wrong. */
export function isGiven(resolved: Resolved<unknown> | undefined): resolved is Resolved<unknown> {
  return resolved !== undefined && (resolved.value !== undefined || resolved.problem !== undefined)
}
