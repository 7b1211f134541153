import { DAY, SECOND } from '../kernel/time.ts'
import { cidrList, httpUrl, ipPool, listenAddress, secretHttpUrl } from './address-types.ts'
import { busServers, databaseLocation } from './server-types.ts'
import {
  choice,
  duration,
  flag,
  integer,
  moduleList,
  name,
  path,
  secretText,
  signingKey,
} from './value-types.ts'
import type { ModuleName, ValueType } from './value-types.ts'

/** What a default may depend on: the machine, and the settings before it in the list. */
export interface DefaultContext {
  readonly hostName: string
  /** Whether the log goes to a terminal. */
  readonly terminal: boolean
  readonly modules: readonly ModuleName[]
  readonly dataDir: string
}

/** A default is written as text, as a person would; undefined leaves the setting unset. */
export type Default = string | undefined | ((context: DefaultContext) => string | undefined)

export interface EnvironmentVariable {
  readonly name: string
  /** Beside which modules the variable speaks for this setting; left out: always. */
  readonly when?: ModuleCondition
}

interface ModuleCondition {
  readonly documented: string
  holds(modules: readonly ModuleName[]): boolean
}

interface SettingOptions<D extends Default> {
  /** The first that is set wins. */
  readonly environment: readonly EnvironmentVariable[]
  readonly default: D
  /** What the default is, for a person, where its text alone does not say it. */
  readonly documentedDefault?: string
  readonly description: string
  /** The value, or a part of it, must not be seen. */
  readonly secret?: boolean
}

export interface Setting<T, D extends Default = Default> extends SettingOptions<D> {
  readonly type: ValueType<T>
}

function setting<T, const D extends Default>(type: ValueType<T>, options: SettingOptions<D>): Setting<T, D> {
  return { type, ...options }
}

function variable(name: string): readonly EnvironmentVariable[] {
  return [{ name }]
}

const gatewayAlone: ModuleCondition = {
  documented: 'when `gateway` runs without `api`',
  holds: (modules) => modules.includes('gateway') && !modules.includes('api'),
}

const notGatewayAlone: ModuleCondition = {
  documented: 'unless `gateway` runs without `api`',
  holds: (modules) => !gatewayAlone.holds(modules),
}

export const JWT_SECRET_MINIMUM_BYTES = 32 // RFC 7518, 3.2: a key for HS256 is at least as long as its hash

export const ROBOT_KINDS = ['feishu', 'dingtalk', 'wecom', 'slack', 'generic'] as const
export const LOG_LEVELS = ['error', 'warn', 'info', 'debug'] as const
export const LOG_FORMATS = ['json', 'pretty'] as const

// Longer than this a timer of Node's fires at once: it counts in 32 bits.
const timerPeriod = duration({ minimum: 1, maximum: 24 * DAY })
const lifetime = duration({ minimum: 1, maximum: 36_500 * DAY })
const atLeastASecond = duration({ minimum: SECOND, maximum: 36_500 * DAY })
const maybeNone = duration({ minimum: 0, maximum: 36_500 * DAY })

/** Every setting of the platform: reading, `platform config` and the reference are all made from this list. */
export const SETTINGS = {
  module: setting(moduleList, {
    environment: variable('MODULE'),
    default: 'all',
    description:
      'The modules that `serve` runs: `all`, or a list of `api`, `gateway`, `worker`. `--module` beats it.',
  }),
  read_only: setting(flag, {
    environment: variable('READ_ONLY'),
    default: 'false',
    description: 'Refuse every change with 503 `read_only`.',
  }),
  data_dir: setting(path, {
    environment: variable('DATA_DIR'),
    default: './data',
    description: 'Where the embedded database, backups and the made JWT secret are kept.',
  }),
  'api.listen': setting(listenAddress, {
    environment: [{ name: 'LISTEN_ADDR', when: notGatewayAlone }],
    default: '127.0.0.1:9600',
    description: 'Where the HTTP API listens.',
  }),
  'api.rate_limit': setting(integer({ minimum: 0, maximum: 1_000_000_000 }), {
    environment: variable('API_RATE_LIMIT'),
    default: '600000',
    description: 'Requests a minute that one caller may send before the answer is 429; 0 sets no limit.',
  }),
  'gateway.listen': setting(listenAddress, {
    environment: [{ name: 'LISTEN_ADDR', when: gatewayAlone }, { name: 'GATEWAY_LISTEN_ADDR' }],
    default: '127.0.0.1:9994',
    description: 'Where the VPN gateway listens.',
  }),
  'gateway.api_url': setting(httpUrl, {
    environment: variable('GATEWAY_API_URL'),
    default: ({ modules }) => (modules.includes('api') ? undefined : 'http://127.0.0.1:9600'),
    documentedDefault: 'the api of the same process, else http://127.0.0.1:9600',
    description: 'The api that the gateway passes requests to.',
  }),
  'gateway.name': setting(name, {
    environment: variable('GATEWAY_NAME'),
    default: ({ hostName }): string => hostName.replace(/[^A-Za-z0-9._-]/g, '-').slice(0, 253) || 'gateway',
    documentedDefault: 'host name',
    description: 'What sessions and audit events call this gateway; two gateways need two names.',
  }),
  'database.url': setting(databaseLocation, {
    environment: variable('DATABASE_URL'),
    default: ({ dataDir }): string => `${dataDir}/platform.db`,
    documentedDefault: 'SQLite file `{data_dir}/platform.db`',
    description: 'The database: `postgres://…`, or a SQLite file as `sqlite:PATH` or a plain path.',
    secret: true,
  }),
  'bus.server': setting(busServers, {
    environment: variable('BUS_SERVER'),
    default: 'nats://127.0.0.1:9996',
    description:
      'The NATS servers, tried in turn; a login stands in the address, `nats://user:password@host:port`.',
    secret: true,
  }),
  'auth.jwt_secret': setting(signingKey(JWT_SECRET_MINIMUM_BYTES), {
    environment: variable('JWT_SECRET'),
    default: undefined,
    documentedDefault: 'made on first start, kept in `{data_dir}/jwt-secret`',
    description:
      'The key that signs and verifies JWTs: at least 32 bytes, and none that is guessed first, such as a repeated word.',
    secret: true,
  }),
  'auth.token_ttl': setting(atLeastASecond, {
    environment: variable('TOKEN_TTL'),
    default: '1h',
    description: 'How long an issued JWT is valid.',
  }),
  'auth.trusted_proxies': setting(cidrList, {
    environment: variable('TRUSTED_PROXIES'),
    default: '127.0.0.0/8,::1/128',
    description:
      'Networks whose identity headers are believed: the gateways, and nobody else. `[]` trusts none.',
  }),
  'vpn.ip_pool': setting(ipPool, {
    environment: variable('VPN_IP_POOL'),
    default: '100.64.0.0/16',
    description: 'The network that virtual addresses are leased from.',
  }),
  'vpn.heartbeat': setting(timerPeriod, {
    environment: variable('VPN_HEARTBEAT'),
    default: '30s',
    description: 'How often a tunnel is asked for a sign of life; two without an answer close it.',
  }),
  'vpn.cool_down': setting(maybeNone, {
    environment: variable('VPN_COOL_DOWN'),
    default: '60s',
    description: 'How long a released address is kept from others.',
  }),
  'vpn.connection_rate': setting(integer({ minimum: 1, maximum: 1_000_000 }), {
    environment: variable('VPN_CONNECTION_RATE'),
    default: '50',
    description: 'New tunnels a second that one address may open before the answer is 429.',
  }),
  'vpn.connection_burst': setting(integer({ minimum: 1, maximum: 1_000_000 }), {
    environment: variable('VPN_CONNECTION_BURST'),
    default: '500',
    description: 'New tunnels that one address may open at once.',
  }),
  'orders.expiry': setting(lifetime, {
    environment: variable('ORDER_EXPIRY'),
    default: '15m', // specification, Limits
    description: 'How long an order may stay pending when it names no time itself.',
  }),
  'messages.keep': setting(atLeastASecond, {
    environment: variable('MESSAGES_KEEP'),
    default: '7d',
    description: 'How long delivered messages are kept.',
  }),
  'worker.listen': setting(listenAddress, {
    environment: variable('WORKER_LISTEN_ADDR'),
    default: undefined,
    documentedDefault: 'unset',
    description:
      'Where a process that runs only the worker answers `/health` and `/metrics`; unset, it does not listen.',
  }),
  'worker.order_scan': setting(timerPeriod, {
    environment: variable('WORKER_ORDER_SCAN'),
    default: '5s',
    description: 'How often the worker looks for orders that are due to expire.',
  }),
  'worker.certificate_scan': setting(timerPeriod, {
    environment: variable('WORKER_CERTIFICATE_SCAN'),
    default: '1h',
    description: 'How often the worker looks for certificates that end soon.',
  }),
  'alerts.robot.url': setting(secretHttpUrl, {
    environment: variable('ALERT_ROBOT_URL'),
    default: undefined,
    documentedDefault: 'unset: no robot is told',
    description: 'The webhook of the chat robot that is told of alerts; needs `alerts.robot.kind`.',
    secret: true,
  }),
  'alerts.robot.kind': setting(choice(ROBOT_KINDS), {
    environment: variable('ALERT_ROBOT_KIND'),
    default: undefined,
    documentedDefault: 'unset',
    description: 'Which robot it is, and so the form of its messages.',
  }),
  'alerts.robot.secret': setting(secretText(1), {
    environment: variable('ALERT_ROBOT_SECRET'),
    default: undefined,
    documentedDefault: 'unset',
    description: 'The key that signs messages to a robot that asks for signatures.',
    secret: true,
  }),
  'log.level': setting(choice(LOG_LEVELS), {
    environment: variable('LOG_LEVEL'),
    default: 'info',
    description: 'The least important lines that are still logged.',
  }),
  'log.format': setting(choice(LOG_FORMATS), {
    environment: variable('LOG_FORMAT'),
    default: ({ terminal }): string => (terminal ? 'pretty' : 'json'),
    documentedDefault: '`json`, or `pretty` on a terminal',
    description: 'How a log line is written.',
  }),
} as const

export type SettingKey = keyof typeof SETTINGS

type ValueOf<S> = S extends { type: ValueType<infer T>; default: infer D } ? T | Unset<D> : never
type Unset<D> = undefined extends (D extends (context: DefaultContext) => infer R ? R : D) ? undefined : never

/** The value of every setting, by its key. */
export type SettingValues = { readonly [K in SettingKey]: ValueOf<(typeof SETTINGS)[K]> }

/** The list in its order, for those that treat all settings alike. */
export const SETTING_LIST = Object.entries(SETTINGS) as readonly (readonly [SettingKey, Setting<unknown>])[]

/** What the table `[backup]` may hold. The backup program judges the values: it alone knows what it needs. */
export const BACKUP_KEYS = [
  'backup.install_root',
  'backup.database',
  'backup.logs',
  'backup.staging',
  'backup.drive.api_url',
  'backup.drive.api_prefix',
  'backup.drive.token_file',
  'backup.drive.secrets_file',
  'backup.drive.part_size',
  'backup.platform_api',
  'backup.server',
  'backup.window_start',
  'backup.window_end',
  'backup.retry_every',
  'backup.clean',
  'backup.media_globs',
  'backup.reboot',
  'backup.dry_run',
] as const
