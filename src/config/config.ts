import {
  environmentTemplates,
  groupTemplates,
  templateKey,
  type AlertTemplates,
  type TemplateText,
} from './backup-templates.ts'
import { programEnvironment, type CommandsConfig } from './commands.ts'
import { ConfigError, type Problem } from './config-error.ts'
import { channelProblems, type PaymentChannelConfig } from './payments.ts'
import { unknownReceivers, type ReceiverConfig, type RouteConfig } from './receivers.ts'
import { Secret } from '../kernel/secret.ts'
import { alignColumns, printable } from '../kernel/text.ts'
import { resolveSettings, type ResolveOptions, readFirstFile, unknownMembers } from './resolve.ts'
import { SETTING_TABLE, type SettingKey, type Settings } from './schema.ts'
import type { Setting } from './setting.ts'
import type { TomlFile } from './toml-file.ts'

type ValueOf<S> = S extends { type: { parse(text: string, cwd: string): infer T } }
  ? Exclude<T, undefined> | (S extends { default: infer D } ? UnsetOf<D> : undefined)
  : never
type UnsetOf<D> = undefined extends (D extends (...args: never) => infer R ? R : D) ? undefined : never

type CamelCase<K> = K extends `${infer First}_${infer Rest}` ? `${First}${Capitalize<CamelCase<Rest>>}` : K
type UnitOf<S> = S extends { type: { unit: infer Unit extends string } } ? Unit : ''
type PropertyOf<K extends SettingKey> = Settings[K] extends { property: infer Property extends string }
  ? Property
  : `${CamelCase<K>}${UnitOf<Settings[K]>}`

type FirstName<Path> = Path extends `${infer First}.${string}` ? First : Path
/** `{ 'a.b': T }` → `{ a: { b: T } }` */
type Nested<Flat> = {
  readonly [First in FirstName<keyof Flat> & string]: First extends keyof Flat
    ? Flat[First]
    : Nested<{ [Path in keyof Flat as Path extends `${First}.${infer Rest}` ? Rest : never]: Flat[Path] }>
}

/**
 * The value of every setting, complete and checked: the key in camelCase, nested by its dots, durations in milliseconds.
 * `auth.token_ttl` → `auth.tokenTtlMs`. Paths are absolute.
 */
export type Config = Nested<{ [K in SettingKey as PropertyOf<K>]: ValueOf<Settings[K]> }> & {
  readonly commands: CommandsConfig
  readonly backup: { readonly templates: AlertTemplates }
  readonly payments: { readonly channels: readonly PaymentChannelConfig[] }
  readonly receivers: readonly ReceiverConfig[]
  readonly alerts: { readonly routes: readonly RouteConfig[] }
}

/** One setting as it is in effect, for people. */
export interface EffectiveSetting {
  readonly key: string
  /** Without secrets. */
  readonly text: string
  readonly source: string
  /** Where the file has it, if another source counts before the file. */
  readonly overrides?: string
}

export interface LoadedConfig {
  readonly config: Config
  /** The file that was read, undefined when there is none. */
  readonly file: string | undefined
  readonly settings: readonly EffectiveSetting[]
}

/** The settings that are lists of receivers. */
const RECEIVER_LISTS = [
  'alerts.default_receivers',
  'commands.approval_receivers',
] as const satisfies readonly SettingKey[]

/** Reads and checks the whole configuration; throws a {@link ConfigError} that names every problem. */
export function loadConfig(options: ResolveOptions): LoadedConfig {
  const file = readFirstFile(options)
  const resolved = resolveSettings(SETTING_TABLE, file, options)
  const problems: Problem[] = [
    ...file.problems,
    ...unknownMembers(SETTING_TABLE, options.env),
    ...[...resolved.values()].flatMap(({ problem }) => problem ?? []),
  ]
  const valueOf = (key: string) => resolved.get(key)?.value
  problems.push(
    ...channelProblems(file.channels, {
      currency: valueOf('payments.currency') as string | undefined,
      publicUrl: valueOf('payments.public_url') as string | undefined,
    }),
  )
  const mentions = [
    ...file.routes.flatMap((route) => route.mentions),
    ...RECEIVER_LISTS.flatMap((key) => {
      const { value, source = '' } = resolved.get(key) ?? {}
      return ((value ?? []) as readonly string[]).map((receiver) => ({ receiver, key, source }))
    }),
  ]
  problems.push(...unknownReceivers(mentions, file.receivers, valueOf('alerts.robot.url') !== undefined))
  const texts = [...file.templates, ...environmentTemplates(options.env, problems)]
  if (problems.length > 0) throw new ConfigError(problems)
  const config: Record<string, unknown> = {}
  const settings = Object.entries(SETTING_TABLE).map(([key, setting]) => {
    const { value, source } = resolved.get(key) ?? { value: undefined, source: '' }
    setAt(config, propertyOf(key, setting), value)
    const inFile = file.values.get(key)?.source ?? source
    return { key, text: textOf(setting, value), source, ...(inFile !== source && { overrides: inFile }) }
  })
  setAt(config, 'commands.programs', file.commands)
  setAt(config, 'payments.channels', file.channels)
  setAt(config, 'receivers', file.receivers)
  setAt(config, 'alerts.routes', file.routes)
  setAt(config, 'commands.environment', programEnvironment(options.env))
  setAt(config, 'backup.templates', groupTemplates(texts))
  return deepFreeze({
    config: config as Config,
    file: file.path,
    settings: [...settings, ...templateSettings(texts), ...tableSettings(file)],
  })
}

/** A row for each table of the file that is not a table of settings. */
function tableSettings({ commands, channels, receivers, routes }: TomlFile): EffectiveSetting[] {
  return [
    ...commands.map(({ id, run, source }) => ({ key: `commands.${id}`, text: JSON.stringify(run), source })),
    ...channels.map(({ name, kind, source }) => ({ key: `payments.channels.${name}`, text: kind, source })),
    ...receivers.map(({ name, kind, source }) => ({ key: `receivers.${name}`, text: kind, source })),
    ...routes.map((route) => {
      return { key: `alerts.routes.${route.name}`, text: route.receivers.join(','), source: route.source }
    }),
  ]
}

/** Each text that is in effect. Texts of the environment come last, and beat texts of the file. */
function templateSettings(texts: readonly TemplateText[]): EffectiveSetting[] {
  const byKey = new Map(texts.map((text) => [templateKey(text), text]))
  return [...byKey].map(([key, { text, source }]) => ({ key, text: JSON.stringify(text), source }))
}

/** Every setting in effect, with its secrets: only for callers that keep nothing but a hash of them. */
export function settingsWithSecrets({
  config,
  settings,
}: Pick<LoadedConfig, 'config' | 'settings'>): { readonly key: string; readonly value: string }[] {
  const channels = new Map(
    config.payments.channels.map((channel) => [`payments.channels.${channel.name}`, channel]),
  )
  return settings.map(({ key, text }) => {
    const setting: Setting | undefined = Object.hasOwn(SETTING_TABLE, key)
      ? SETTING_TABLE[key as SettingKey]
      : undefined
    const secret = setting?.secret ? valueAt(config, propertyOf(key, setting)) : channels.get(key)
    return { key, value: secret === undefined ? text : revealedJson(secret) }
  })
}

function valueAt(outer: unknown, path: string): unknown {
  return path.split('.').reduce<unknown>((value, name) => (value as Record<string, unknown>)[name], outer)
}

function revealedJson(value: unknown): string {
  return JSON.stringify(value, function replace(this: Record<string, unknown>, name: string, json: unknown) {
    const member = this[name]
    return member instanceof Secret ? member.reveal() : json
  })
}

function propertyOf(key: string, { type, property }: Setting): string {
  const camelCase = key.replace(/_([a-z])/g, (_match, letter: string) => letter.toUpperCase())
  return property ?? `${camelCase}${type.unit ?? ''}`
}

function setAt(outer: Record<string, unknown>, path: string, value: unknown): void {
  const [first = '', ...rest] = path.split('.')
  if (rest.length === 0) outer[first] = value
  else setAt((outer[first] ??= {}) as Record<string, unknown>, rest.join('.'), value)
}

function textOf({ type, documentedDefault = 'unset' }: Setting, value: unknown): string {
  return value === undefined ? `(${documentedDefault})` : type.format(value)
}

function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value
  Object.values(value).forEach(deepFreeze)
  return Object.freeze(value)
}

/** Each setting as it may be shown: on one line, secrets masked. */
export function describeSettings(settings: LoadedConfig['settings']): EffectiveSetting[] {
  return settings.map(({ key, text, source, overrides }) => ({
    key,
    text: printable(text),
    source: printable(source),
    ...(overrides !== undefined && { overrides: printable(overrides) }),
  }))
}

/** What `platform config` prints: each setting with its value and where that came from. */
export function describeConfig({ settings }: LoadedConfig): string {
  const rows = describeSettings(settings).map(({ key, text, source, overrides }) => [
    key,
    text,
    overrides === undefined ? source : `${source}, overrides ${overrides}`,
  ])
  return alignColumns([['KEY', 'VALUE', 'SOURCE'], ...rows])
}
