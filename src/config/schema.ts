import { DAY, MINUTE, SECOND } from '../kernel/time.ts'
import {
  busServers,
  cidrList,
  originList,
  databaseLocation,
  httpUrl,
  ipPool,
  listenAddress,
  overlap,
  privateHttpUrl,
  secretHttpUrl,
  type Cidr,
  type ListenAddress,
} from './address-types.ts'
import { BACKUP_SETTINGS } from './backup-settings.ts'
import { PAYMENT_SETTINGS } from './payments.ts'
import { isLoopbackHost } from '../kernel/addresses.ts'
import { alertSeverity, chatId, receiverNames, ROBOT_KINDS } from './receivers.ts'
import { signingKeys } from './signing-keys.ts'
import { claimName, clientId, exactHttpUrl, roleList, roleMap, scopeList } from './sign-in-types.ts'
import {
  choice,
  duration,
  trueOrFalse,
  integerWithin,
  moduleList,
  name,
  path,
  secretText,
} from './value-types.ts'
import { setting, type SettingTable } from './setting.ts'
import type { ModuleName } from './value-types.ts'

const isGatewayAlone = (modules: readonly ModuleName[]) =>
  modules.includes('gateway') && !modules.includes('api')

// Node.js keeps a timer's delay in 32 bits, and fires at once when it is longer.
const timerPeriod = duration({ minimum: 1, maximum: 24 * DAY })
const durationFrom = (minimum: number) => duration({ minimum, maximum: 36_500 * DAY })
const count = integerWithin({ minimum: 1, maximum: 1_000_000 })

/** Who is trusted with identity headers when nothing else is configured. */
const LOOPBACK = cidrList.parse('127.0.0.0/8,::1/128', '') ?? []

/** How long a token may be valid, because a stolen one works as long. */
export const tokenLifetime = duration({ minimum: SECOND, maximum: 30 * DAY })
/** How long an API token may be valid; longer, because it can be revoked alone. */
export const apiTokenLifetime = duration({ minimum: SECOND, maximum: 366 * DAY })

/**
 * Unless `auth.oidc.allow_insecure_endpoints` is true, the metadata of the provider is read over https, and not from a
 * loopback address while the issuer is elsewhere.
 */
function expectSecureProvider(value: unknown, valueOf: (key: string) => unknown): string | undefined {
  if (valueOf('auth.oidc.allow_insecure_endpoints') === true) return undefined
  const [address, issuer] = [value, valueOf('auth.oidc.issuer') ?? value].map((each) => new URL(String(each)))
  const isLoopbackForRemoteIssuer =
    isLoopbackHost(address?.hostname ?? '') && !isLoopbackHost(issuer?.hostname ?? '')
  if (address?.protocol === 'https:' && !isLoopbackForRemoteIssuer) return undefined
  const expected = isLoopbackForRemoteIssuer
    ? 'no loopback address while the issuer has another one'
    : 'an https:// address'
  return `${expected}, unless auth.oidc.allow_insecure_endpoints is true`
}

/** Where a callback of a sign-in comes back to, when nothing else is configured. */
export const DEFAULT_REDIRECT_URI = 'http://127.0.0.1:9989/auth/oauth/callback'

/** Every setting. The configuration, `platform config` and the reference are made from this table. */
const SETTINGS = {
  module: setting(moduleList, {
    description:
      'Modules that `serve` runs: `all`, or a list of `api`, `gateway`, `worker`. `--module` beats it.',
    default: 'all',
    property: 'modules',
  }),
  read_only: setting(trueOrFalse, {
    description: 'Refuse every change with 503 `read_only`.',
    default: 'false',
  }),
  data_dir: setting(path, {
    description: 'The directory of the embedded database and of the generated JWT secret.',
    default: './data',
  }),
  'api.listen': setting(listenAddress, {
    description: 'Where the HTTP API listens.',
    default: '127.0.0.1:9600',
    environment: [
      {
        name: 'LISTEN_ADDR',
        when: {
          documented: 'unless `gateway` runs without `api`',
          holds: (modules) => !isGatewayAlone(modules),
        },
      },
    ],
  }),
  'api.tls.cert_file': setting(path, {
    description:
      'The certificate of the api with its chain, in PEM: it then listens with TLS. The file is read again when it changes.',
    needs: 'api.tls.key_file',
  }),
  'api.tls.key_file': setting(path, {
    description: 'The key of the certificate, in PEM, which others must not be able to read.',
    needs: 'api.tls.cert_file',
  }),
  'api.local_listen': setting(listenAddress, {
    description:
      'Where an api with TLS also listens without it, for programs of this host. A loopback address.',
    default: '127.0.0.1:0',
    needs: 'api.tls.cert_file',
    expectedBeside: (value) =>
      isLoopbackHost((value as ListenAddress).host) ? undefined : 'a loopback address such as 127.0.0.1:9601',
  }),
  'api.cors_origins': setting(originList, {
    description:
      'Origins whose pages may call the api and the gateway, with a token of their own. `none` allows no page of another origin.',
    default: 'none',
  }),
  'api.rate_limit': setting(integerWithin({ minimum: 0, maximum: 1_000_000_000 }), {
    description: 'Requests per minute and caller; above that the answer is 429. 0 sets no limit.',
    default: '600000',
    property: 'api.rateLimitPerMinute',
  }),
  'gateway.listen': setting(listenAddress, {
    description: 'Where the VPN gateway listens.',
    default: '127.0.0.1:9994',
    environment: [
      {
        name: 'LISTEN_ADDR',
        when: { documented: 'when `gateway` runs without `api`', holds: isGatewayAlone },
      },
      { name: 'GATEWAY_LISTEN_ADDR' },
    ],
  }),
  'gateway.tls.cert_file': setting(path, {
    description:
      'The certificate of the gateway with its chain, in PEM: it then listens with TLS. The file is read again when it changes.',
    needs: 'gateway.tls.key_file',
  }),
  'gateway.tls.key_file': setting(path, {
    description: 'The key of the certificate, in PEM, which others must not be able to read.',
    needs: 'gateway.tls.cert_file',
  }),
  'gateway.api_ca_file': setting(path, {
    description:
      'Certificates in PEM that the gateway trusts besides those of the system, for an https `gateway.api_url` or ' +
      '`gateway.mirror_from`.',
  }),
  'gateway.mirror_from': setting(privateHttpUrl, {
    description:
      'The api of the primary, on a standby with a database of its own: the gateway copies the users from there. Not with ' +
      'the module api.',
    needs: 'gateway.mirror_token_file',
    expectedBeside: (_value, valueOf) => {
      const modules: unknown = valueOf('module')
      const hasApi = Array.isArray(modules) && modules.includes('api')
      return hasApi ? 'no value in a process with the module api, which has users of its own' : undefined
    },
  }),
  'gateway.mirror_token_file': setting(path, {
    description:
      'A file with a token of a user of the primary with the role `service`, mode 600. It is read again for every request.',
    needs: 'gateway.mirror_from',
  }),
  'gateway.mirror_max_age': setting(durationFrom(SECOND), {
    description:
      'How long a standby opens sessions without having reached the primary; then they are refused with 503.',
    default: '6h',
  }),
  'gateway.api_url': setting(httpUrl, {
    description: 'The api that the gateway passes requests to.',
    default: ({ modules, valueOf }) =>
      modules.includes('api')
        ? undefined
        : ((valueOf('gateway.mirror_from') as string | undefined) ?? 'http://127.0.0.1:9600'),
    documentedDefault: 'the api of the same process, else `gateway.mirror_from`, else http://127.0.0.1:9600',
  }),
  'gateway.name': setting(name, {
    description: 'The name of this gateway in sessions and audit events; two gateways need two names.',
    default: ({ hostName }): string => hostName.replace(/[^A-Za-z0-9._-]/g, '-').slice(0, 253) || 'gateway',
    documentedDefault: 'host name',
  }),
  'database.url': setting(databaseLocation, {
    description:
      'The database: `postgres://…`, with one host or a list of hosts, or a SQLite file as `sqlite:PATH` or a plain path.',
    default: ({ valueOf }): string => `${String(valueOf('data_dir'))}/platform.db`,
    documentedDefault: 'SQLite file `{data_dir}/platform.db`',
    secret: true,
    property: 'database',
  }),
  'database.backup_before_migration': setting(trueOrFalse, {
    description:
      'Copy a SQLite database to `<database>.before-migration` before a newer release changes its schema. The next migration replaces the copy.',
    default: 'true',
    property: 'backupBeforeMigration',
  }),
  'bus.server': setting(busServers, {
    description:
      'The NATS servers, tried in this order. A login is written `nats://user:password@host:port`.',
    default: 'nats://127.0.0.1:9996',
    secret: true,
  }),
  'bus.replicas': setting(integerWithin({ minimum: 1, maximum: 5 }), {
    description:
      'How many servers of a NATS cluster store the stream of the platform. Set, it also changes an existing stream.',
    documentedDefault: '1 for a new stream; an existing one keeps its number',
  }),
  'auth.jwt_secret': setting(signingKeys, {
    description:
      'The key that signs and verifies JWTs: at least 32 bytes. A placeholder, such as `change-me-…`, is refused, and a key that is easy to guess causes a warning. An array rotates keys: the first signs, every one verifies. In the environment the array is JSON: `JWT_SECRET=\'["new…", "old…"]\'`.',
    property: 'auth.jwtSecrets',
    documentedDefault: 'generated on first start, kept in `{data_dir}/jwt-secret`',
    environment: [{ name: 'JWT_SECRET' }],
    secret: true,
  }),
  'auth.token_ttl': setting(tokenLifetime, {
    description: 'How long an issued JWT is valid, at most 30 days.',
    default: '1h',
    environment: [{ name: 'TOKEN_TTL' }],
  }),
  'proxy.client_address_from': setting(cidrList, {
    description:
      'Networks of the proxies whose `Forwarded` or `X-Forwarded-For` names the address of a caller. For limits, the log ' +
      'and the audit trail, never for rights.',
    default: 'none',
  }),
  'auth.trusted_proxies': setting(cidrList, {
    description:
      'Networks whose identity headers are trusted: only those of local tools. `none` trusts no network.',
    default: ({ valueOf }): string => {
      const proxies = (valueOf('proxy.client_address_from') ?? []) as readonly Cidr[]
      return cidrList.format(LOOPBACK.filter((network) => !proxies.some((proxy) => overlap(proxy, network))))
    },
    documentedDefault: '`127.0.0.0/8,::1/128`, of these none with an address of `proxy.client_address_from`',
    environment: [{ name: 'TRUSTED_PROXIES' }],
  }),
  'auth.oidc.issuer': setting(exactHttpUrl, {
    description:
      'The OpenID provider for sign-in, exactly as its metadata names it. Unset, there is no sign-in.',
    needs: ['auth.oidc.client_id', 'auth.oidc.client_secret'],
    expectedBeside: (value, valueOf) =>
      valueOf('auth.oidc.discovery_url') === undefined ? expectSecureProvider(value, valueOf) : undefined,
  }),
  'auth.oidc.discovery_url': setting(exactHttpUrl, {
    description:
      'Where the metadata of the provider is read, when that is not below the issuer: the whole address, or the one ' +
      'before `/.well-known/`.',
    needs: 'auth.oidc.issuer',
    expectedBeside: expectSecureProvider,
  }),
  'auth.oidc.client_id': setting(clientId, {
    description: 'The id under which the provider knows the platform.',
    needs: 'auth.oidc.issuer',
  }),
  'auth.oidc.client_secret': setting(secretText, {
    description: 'The secret that the provider has given the platform.',
    secret: true,
    needs: 'auth.oidc.issuer',
  }),
  'auth.oidc.redirect_uri': setting(exactHttpUrl, {
    description:
      'Where the provider sends the browser back to: `/auth/oauth/callback` at an address where the api or the gateway ' +
      'is reached. With the default the api listens on this address too.',
    default: DEFAULT_REDIRECT_URI,
  }),
  'auth.oidc.post_logout_redirect_uri': setting(exactHttpUrl, {
    description:
      'Where the provider sends the browser after a sign-out, such as `https://shop.example.org/console/`. The provider must know ' +
      'it. Unset, the browser stays with the provider.',
  }),
  'auth.oidc.scopes': setting(scopeList, {
    description: 'What the platform asks the provider for. Without `openid` it needs a `userinfo` endpoint.',
    default: 'openid profile email',
  }),
  'auth.oidc.user_claim': setting(claimName, {
    description: 'The claim that is the name of the user on the platform, ignoring case.',
    default: 'sub',
  }),
  'auth.oidc.roles_claim': setting(claimName, {
    description: 'The claim with the roles: a text or a list of texts.',
    needs: 'auth.oidc.issuer',
  }),
  'auth.oidc.role_map': setting(roleMap, {
    description:
      'The roles that each value of the roles claim stands for. Unset, a value stands for the role of that name.',
    needs: 'auth.oidc.roles_claim',
  }),
  'auth.oidc.default_roles': setting(roleList, {
    description: 'The roles of a new user to whom the claim gives none.',
    default: '',
    documentedDefault: '`none`',
  }),
  'auth.oidc.create_users': setting(trueOrFalse, {
    description: 'Create a user at the first sign-in. Otherwise an unknown user is refused.',
    default: 'false',
  }),
  'auth.oidc.sync_roles': setting(trueOrFalse, {
    description:
      'Set the roles from the roles claim at every sign-in, and not only when the user is created.',
    default: 'false',
  }),
  'auth.oidc.allow_insecure_endpoints': setting(trueOrFalse, {
    description:
      'Accept endpoints without TLS, and on this machine while the issuer is not. For tests with a provider of your own.',
    default: 'false',
  }),
  'vpn.ip_pool': setting(ipPool, {
    description: 'The network from which virtual addresses are leased.',
    default: '100.64.0.0/16',
  }),
  'vpn.heartbeat': setting(timerPeriod, {
    description: 'The interval of heartbeats on a session; two without an answer close it.',
    default: '30s',
  }),
  'vpn.cool_down': setting(durationFrom(0), {
    description: 'How long a released address is kept from other devices.',
    default: '60s',
  }),
  'vpn.connection_rate': setting(count, {
    description: 'New sessions per second and client address; above that the answer is 429.',
    default: '50',
    property: 'vpn.connectionsPerSecond',
  }),
  'vpn.connection_burst': setting(count, {
    description: 'New sessions that one client address may open at once.',
    default: '500',
  }),
  'vpn.sessions_per_user': setting(count, {
    description: 'Open sessions of one user; the next one is refused with 429.',
    default: '250',
  }),
  'orders.expiry': setting(durationFrom(1), {
    description: 'How long an order may stay pending when it names no time itself.',
    default: '15m', // docs/specification.md, Limits
    environment: [{ name: 'ORDER_EXPIRY' }],
  }),
  'orders.archive_after': setting(durationFrom(SECOND), {
    description: 'How long after its end an order moves to the archive. Unset, orders stay.',
  }),
  'audit.keep': setting(durationFrom(SECOND), {
    description: 'How long rows of the audit trail are kept; whole sealed pages of 1,000 rows are removed.',
    default: '400d',
  }),
  'messages.keep': setting(durationFrom(SECOND), {
    description: 'How long delivered messages are kept.',
    default: '7d',
  }),
  'telemetry.max_pending': setting(count, {
    description: 'Items of telemetry that may wait for the bus; above that the answer is 429.',
    default: '100000',
  }),
  'telemetry.rate': setting(count, {
    description:
      'Items per second of one agent, and five times as many at once; above that the answer is 429.',
    default: '100',
    property: 'telemetry.ratePerSecond',
  }),
  'telemetry.otlp_endpoint': setting(httpUrl, {
    description:
      'Where spans of requests, transactions, deliveries, commands and nights go: the address of an OpenTelemetry collector ' +
      'that takes OTLP over HTTP, such as `http://127.0.0.1:4318`. Unset, none are made. Its headers, such as a token, come from ' +
      'the environment variable `OTEL_EXPORTER_OTLP_HEADERS`.',
  }),
  'worker.listen': setting(listenAddress, {
    description: 'Where the worker answers `/health` and `/metrics`. Unset, it does not listen.',
    environment: [{ name: 'WORKER_LISTEN_ADDR' }],
  }),
  'worker.order_scan': setting(timerPeriod, {
    description: 'How often the worker looks for orders that are due to expire.',
    default: '5s',
  }),
  'worker.certificate_scan': setting(timerPeriod, {
    description: 'How often the worker looks for certificates that end soon, and at their files.',
    default: '1h',
  }),
  'commands.approval_ttl': setting(durationFrom(SECOND), {
    description: 'How long a request for a command waits for its approval; then it expires.',
    default: '1h',
  }),
  'commands.approval_receivers': setting(receiverNames, {
    description:
      'The receivers that are told of each request for a command that waits for its approval, and of the decision. Unset: none.',
  }),
  'commands.start_within': setting(durationFrom(SECOND), {
    description: 'How long an execution waits for a worker that begins it; then it expires, with an alert.',
    default: '1h',
  }),
  'alerts.acknowledge_for': setting(durationFrom(SECOND), {
    description: 'How long an acknowledgement lasts; then the alert fires again.',
    default: '4h',
  }),
  'alerts.keep': setting(durationFrom(SECOND), {
    description: 'How long recovered alerts are kept, with their history and decisions.',
    default: '90d',
  }),
  'alerts.webhook_stale_after': setting(durationFrom(MINUTE), {
    description:
      "How long an alert that an Alertmanager's webhook has reported fires without news of its group. Longer than the " +
      'longest `repeat_interval` of the Alertmanager.',
    default: '24h',
  }),
  'alerts.default_receivers': setting(receiverNames, {
    description: 'The receivers of alerts that no route decides about. Unset: the robot.',
  }),
  'alerts.robot.url': setting(secretHttpUrl, {
    description:
      'The webhook of the chat robot that receives alerts; needs `alerts.robot.kind`. Set it for the api and for the worker.',
    environment: [{ name: 'ALERT_ROBOT_URL' }],
    secret: true,
    needs: 'alerts.robot.kind',
  }),
  'alerts.robot.kind': setting(choice(ROBOT_KINDS), {
    description: 'The kind of robot, which decides the format and the rate limit of its messages.',
    environment: [{ name: 'ALERT_ROBOT_KIND' }],
    needs: 'alerts.robot.url',
    expectedBeside: (value, valueOf) =>
      value === 'telegram' && valueOf('alerts.robot.chat_id') === undefined
        ? 'alerts.robot.chat_id beside the kind telegram'
        : undefined,
  }),
  'alerts.robot.chat_id': setting(chatId, {
    description: 'The chat that a robot of kind `telegram` writes to.',
    environment: [{ name: 'ALERT_ROBOT_CHAT_ID' }],
    needs: 'alerts.robot.url',
  }),
  'alerts.robot.secret': setting(secretText, {
    description: 'The key that signs messages, for a robot that requires signatures.',
    environment: [{ name: 'ALERT_ROBOT_SECRET' }],
    secret: true,
    needs: 'alerts.robot.url',
  }),
  'alerts.robot.min_severity': setting(alertSeverity, {
    description:
      'The lowest severity of an alert that the default route tells: to the robot, or to `alerts.default_receivers`.',
    default: 'WARNING',
    environment: [{ name: 'ALERT_ROBOT_MIN_SEVERITY' }],
  }),
  'webhooks.allow_private': setting(cidrList, {
    description:
      'Networks that are not public and that webhooks may call all the same, also without TLS. `none` allows only public ' +
      'addresses with TLS.',
    default: 'none',
  }),
  'console.url': setting(httpUrl, {
    description:
      'Where people open the console, such as `https://shop.example.org`: the beginning of the addresses that are shown to them.',
  }),
  ...PAYMENT_SETTINGS,
  'data.backup_every': setting(durationFrom(SECOND), {
    description: 'How often the worker makes a backup of the database. Unset, it makes none.',
  }),
  'data.backup_keep': setting(integerWithin({ minimum: 1, maximum: 1_000 }), {
    description: 'How many completed backups the worker keeps, if `data.backup_every` is set.',
    default: '7',
  }),
  ...BACKUP_SETTINGS,
  'log.level': setting(choice(['error', 'warn', 'info', 'debug']), {
    description: 'The lowest level that is logged.',
    default: 'info',
  }),
  'log.format': setting(choice(['json', 'pretty']), {
    description: 'The format of the log.',
    default: ({ terminal }): string => (terminal ? 'pretty' : 'json'),
    documentedDefault: '`json`, or `pretty` on a terminal',
  }),
} as const satisfies Record<string, unknown>

/** The table with the types of the values. */
export type Settings = typeof SETTINGS
export type SettingKey = keyof Settings

/** The settings without the types of their values, for code that treats all settings alike. */
export const SETTING_TABLE: SettingTable = SETTINGS
