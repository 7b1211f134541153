import type { ModuleName, ValueType } from './value-types.ts'

/** What a default may depend on: the machine, and the settings before it in the table. */
export interface DefaultContext {
  readonly hostName: string
  /** Whether the log goes to a terminal. */
  readonly terminal: boolean
  readonly modules: readonly ModuleName[]
  /** `TZ` of the environment. */
  readonly timeZoneVariable: string | undefined
  /** The value of an earlier setting; undefined when it is unset or wrong. */
  valueOf(key: string): unknown
}

export interface EnvironmentVariable {
  readonly name: string
  /** The variable is a table, `{ daily = 7 }` or in JSON; this member of it is the value. */
  readonly member?: string
  /** The modules with which the variable has this meaning; left out: all. */
  readonly when?: { readonly documented: string; holds(modules: readonly ModuleName[]): boolean }
}

interface SettingOptions {
  readonly description: string
  /** As text, as a person would write it; left out or undefined: unset. */
  readonly default?: string | ((context: DefaultContext) => string | undefined)
  /** The default in words, where its text does not say it. */
  readonly documentedDefault?: string
  /** The first variable that is set wins. Left out: the key in capitals, `log.level` → `LOG_LEVEL`. */
  readonly environment?: readonly EnvironmentVariable[]
  /** The value, or a part of it, must not be printed. */
  readonly secret?: true
  /** The path in `Config`. Left out: the key in camelCase. */
  readonly property?: string
  /** The keys of other settings, without which this one has no meaning. */
  readonly needs?: string | readonly string[]
  /** What is expected of the value in view of other settings; undefined when it is as expected. */
  readonly expectedBeside?: (value: unknown, valueOf: (key: string) => unknown) => string | undefined
}

export interface Setting extends SettingOptions {
  readonly type: ValueType<unknown>
}

/** Settings by their key, in the order in which they are resolved and shown. */
export type SettingTable = Readonly<Record<string, Setting>>

/** A setting with the type of its value. */
export function setting<T extends ValueType<unknown>, const O extends SettingOptions>(
  type: T,
  options: O,
): O & { type: T } {
  return { type, ...options }
}

/** The environment variables of a setting, in the order of their precedence. */
export function variablesOf(key: string, { environment }: Setting): readonly EnvironmentVariable[] {
  return environment ?? [{ name: key.toUpperCase().replaceAll('.', '_') }]
}
