import type { Secret } from '../kernel/secret.ts'
import type { Cidr, ListenAddress } from './address-types.ts'
import { ConfigError } from './config-error.ts'
import type { Problem } from './config-error.ts'
import { openSources } from './env.ts'
import type { SourceOptions } from './env.ts'
import { isGiven, resolveAll } from './resolve.ts'
import type { ResolvedSettings } from './resolve.ts'
import { SETTING_LIST, SETTINGS } from './schema.ts'
import type { LOG_FORMATS, LOG_LEVELS, ROBOT_KINDS, Setting, SettingKey, SettingValues } from './schema.ts'
import type { BusServers, DatabaseLocation } from './server-types.ts'
import type { ModuleName } from './value-types.ts'

/** The robot that is told of alerts. */
export interface RobotConfig {
  readonly url: Secret
  readonly kind: (typeof ROBOT_KINDS)[number]
  readonly secret: Secret | undefined
}

/** Everything that can be configured, complete and judged. Paths are absolute. */
export interface Config {
  /** In the order in which they start. */
  readonly modules: readonly ModuleName[]
  readonly readOnly: boolean
  readonly dataDir: string
  readonly api: {
    readonly listen: ListenAddress
    /** Of one caller; 0 sets no limit. */
    readonly rateLimitPerMinute: number
  }
  readonly gateway: {
    readonly listen: ListenAddress
    /** Without a slash at its end; undefined means the api of this process, wherever it listens. */
    readonly apiUrl: string | undefined
    readonly name: string
  }
  readonly database: DatabaseLocation
  readonly bus: BusServers
  readonly auth: {
    /** Undefined means the one kept in the data directory. */
    readonly jwtSecret: Secret | undefined
    readonly tokenTtlMs: number
    readonly trustedProxies: readonly Cidr[]
  }
  readonly vpn: {
    readonly ipPool: Cidr
    readonly heartbeatMs: number
    readonly coolDownMs: number
    readonly connectionsPerSecond: number
    readonly connectionBurst: number
  }
  readonly orders: { readonly expiryMs: number }
  readonly messages: { readonly keepMs: number }
  readonly worker: {
    readonly listen: ListenAddress | undefined
    readonly orderScanMs: number
    readonly certificateScanMs: number
  }
  readonly alerts: { readonly robot: RobotConfig | undefined }
  readonly log: {
    readonly level: (typeof LOG_LEVELS)[number]
    readonly format: (typeof LOG_FORMATS)[number]
  }
}

/** One setting as it is in effect, for people. */
export interface EffectiveSetting {
  readonly key: SettingKey
  /** Without secrets. */
  readonly text: string
  readonly source: string
}

export interface LoadedConfig {
  readonly config: Config
  /** The file that was read, undefined when there is none. */
  readonly file: string | undefined
  readonly settings: readonly EffectiveSetting[]
}

export interface LoadOptions extends SourceOptions {
  /** Whether the log goes to a terminal. */
  readonly terminal?: boolean
}

/** Reads and judges the whole configuration; throws a {@link ConfigError} that names every problem there is. */
export function loadConfig(options: LoadOptions): LoadedConfig {
  const sources = openSources(options)
  const resolved = resolveAll(sources, options.cwd, options.terminal ?? false)
  const problems = [
    ...sources.problems,
    ...[...resolved.values()].flatMap(({ problem }) => problem ?? []),
    ...robotProblems(resolved),
  ]
  if (problems.length > 0) throw new ConfigError(problems)
  const values = Object.fromEntries([...resolved].map(([key, { value }]) => [key, value])) as SettingValues
  const settings = SETTING_LIST.map(([key, setting]) => effectiveSetting(key, setting, resolved))
  return deepFreeze({ config: toConfig(values), file: sources.file, settings })
}

function robotProblems(resolved: ResolvedSettings): Problem[] {
  const url = resolved.get('alerts.robot.url')
  const kind = resolved.get('alerts.robot.kind')
  if (!isGiven(url) || isGiven(kind)) return []
  const expected = `${SETTINGS['alerts.robot.kind'].type.expected}, because alerts.robot.url is set`
  return [{ source: url.source, key: 'alerts.robot.kind', expected, got: 'nothing' }]
}

function effectiveSetting(
  key: SettingKey,
  setting: Setting<unknown>,
  resolved: ResolvedSettings,
): EffectiveSetting {
  const { value, source } = resolved.get(key) ?? { value: undefined, source: 'default' }
  const text = value === undefined ? `(${setting.documentedDefault ?? 'unset'})` : setting.type.format(value)
  return { key, text, source }
}

function toConfig(values: SettingValues): Config {
  return {
    modules: values.module,
    readOnly: values.read_only,
    dataDir: values.data_dir,
    api: { listen: values['api.listen'], rateLimitPerMinute: values['api.rate_limit'] },
    gateway: {
      listen: values['gateway.listen'],
      apiUrl: values['gateway.api_url'],
      name: values['gateway.name'],
    },
    database: values['database.url'],
    bus: values['bus.server'],
    auth: {
      jwtSecret: values['auth.jwt_secret'],
      tokenTtlMs: values['auth.token_ttl'],
      trustedProxies: values['auth.trusted_proxies'],
    },
    vpn: {
      ipPool: values['vpn.ip_pool'],
      heartbeatMs: values['vpn.heartbeat'],
      coolDownMs: values['vpn.cool_down'],
      connectionsPerSecond: values['vpn.connection_rate'],
      connectionBurst: values['vpn.connection_burst'],
    },
    orders: { expiryMs: values['orders.expiry'] },
    messages: { keepMs: values['messages.keep'] },
    worker: {
      listen: values['worker.listen'],
      orderScanMs: values['worker.order_scan'],
      certificateScanMs: values['worker.certificate_scan'],
    },
    alerts: { robot: toRobot(values) },
    log: { level: values['log.level'], format: values['log.format'] },
  }
}

function toRobot(values: SettingValues): RobotConfig | undefined {
  const { 'alerts.robot.url': url, 'alerts.robot.kind': kind, 'alerts.robot.secret': secret } = values
  return url && kind && { url, kind, secret }
}

function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value
  Object.values(value).forEach(deepFreeze)
  return Object.freeze(value)
}
