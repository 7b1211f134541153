import assert from 'node:assert/strict'
import { hostname } from 'node:os'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { ConfigError } from './config-error.ts'
import { configErrorLines, configFiles } from '../../test/support/config-files.ts'
import type { Config, LoadedConfig } from './config.ts'
import type { Environment } from './env.ts'
import type { ResolveOptions } from './resolve.ts'
import { SETTING_TABLE, type SettingKey } from './schema.ts'
import { variablesOf } from './setting.ts'
import { systemTimeZone } from './backup-types.ts'

const { path, load, withoutFile } = configFiles()

function configOf(toml: string, env: Environment = {}, options: Partial<ResolveOptions> = {}): Config {
  return load(toml, env, options).config
}

test('without a file and an environment everything has its default', () => {
  const { config, file } = withoutFile()
  assert.equal(file, undefined)
  assert.deepEqual(JSON.parse(JSON.stringify(config)), {
    modules: ['api', 'gateway', 'worker'],
    readOnly: false,
    dataDir: path('data'),
    api: {
      listen: { host: '127.0.0.1', port: 9600 },
      tls: {},
      localListen: { host: '127.0.0.1', port: 0 },
      corsOrigins: [],
      rateLimitPerMinute: 600_000,
    },
    gateway: {
      listen: { host: '127.0.0.1', port: 9994 },
      tls: {},
      mirrorMaxAgeMs: 21_600_000,
      name: hostname(),
    },
    database: { kind: 'sqlite', path: path('data/platform.db') },
    backupBeforeMigration: true,
    bus: { server: { urls: '**redacted**', text: 'nats://127.0.0.1:9996' } },
    proxy: { clientAddressFrom: [] },
    auth: {
      tokenTtlMs: 3_600_000,
      trustedProxies: [
        { text: '127.0.0.0/8', address: '127.0.0.0', prefixLength: 8, family: 'ipv4' },
        { text: '::1/128', address: '::1', prefixLength: 128, family: 'ipv6' },
      ],
      oidc: {
        redirectUri: 'http://127.0.0.1:9989/auth/oauth/callback',
        scopes: ['openid', 'profile', 'email'],
        userClaim: 'sub',
        defaultRoles: [],
        createUsers: false,
        syncRoles: false,
        allowInsecureEndpoints: false,
      },
    },
    vpn: {
      ipPool: { text: '100.64.0.0/16', address: '100.64.0.0', prefixLength: 16, family: 'ipv4' },
      heartbeatMs: 30_000,
      coolDownMs: 60_000,
      connectionsPerSecond: 50,
      connectionBurst: 500,
      sessionsPerUser: 250,
    },
    orders: { expiryMs: 900_000 },
    audit: { keepMs: 34_560_000_000 },
    messages: { keepMs: 604_800_000 },
    telemetry: { maxPending: 100_000, ratePerSecond: 100 },
    worker: { orderScanMs: 5_000, certificateScanMs: 3_600_000 },
    commands: {
      approvalTtlMs: 3_600_000,
      startWithinMs: 3_600_000,
      programs: [],
      environment: {
        PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
        HOME: '/',
        LANG: 'C.UTF-8',
      },
    },
    alerts: {
      acknowledgeForMs: 14_400_000,
      keepMs: 7_776_000_000,
      webhookStaleAfterMs: 86_400_000,
      robot: { minSeverity: 'WARNING' },
      routes: [],
    },
    receivers: [],
    payments: {
      currency: 'CNY',
      timeZone: 'Asia/Shanghai',
      reconcileAt: '10:30',
      refundLate: false,
      channels: [],
    },
    webhooks: { allowPrivate: [] },
    console: {},
    data: { backupKeep: 7 },
    backup: {
      installRoot: '/opt/platform',
      logs: ['/opt/platform/logs'],
      logsOptional: [],
      staging: '/opt/platform/backups/staging',
      timeZone: systemTimeZone(undefined),
      compression: 'zstd',
      encryption: { recipients: [] },
      drive: {
        apiPrefix: '/adrive/v1.0',
        tokenFile: '/opt/platform/certs/backend/drive-token.json',
        secretsFile: '/etc/platform/backup.env',
        partSize: 67_108_864,
      },
      upload: {},
      remoteKeep: { daily: 7, weekly: 4, monthly: 12 },
      platformApi: 'http://127.0.0.1:9990',
      server: 'primary',
      windowStart: '02:00',
      windowEnd: '06:00',
      retryEveryMs: 1_800_000,
      clean: ['packages', 'journal', 'tmp', 'media', 'containers', 'page-cache'],
      tmpDir: '/tmp',
      mediaGlobs: [],
      reboot: true,
      rebootCommand: ['systemctl', 'reboot'],
      standby: {},
      selfcheckForMs: 600_000,
      dryRun: false,
      templates: {},
    },
    log: { level: 'info', format: 'json' },
  })
})

test('the defaults are read without Intl, whose first use takes 8 MB', (t) => {
  const numberFormat = t.mock.method(Intl, 'NumberFormat')
  const dateTimeFormat = t.mock.method(Intl, 'DateTimeFormat')
  withoutFile({ BACKUP_TIME_ZONE: 'UTC' })
  assert.equal(numberFormat.mock.callCount(), 0)
  assert.equal(dateTimeFormat.mock.callCount(), 0)
})

test('the configuration is deeply frozen', () => {
  const { config } = withoutFile()
  assert.throws(() => Object.assign(config.api.listen, { port: 1 }), TypeError)
  assert.throws(() => Object.assign(config.auth.trustedProxies, { 0: 'everyone' }), TypeError)
})

// Two values of each setting: as TOML and as the environment have it, and as they are printed.
interface Sample {
  readonly toml: string
  readonly fileText?: string
  readonly env: string
  readonly envText?: string
  /** Lines of TOML with the settings without which this one has no meaning. */
  readonly beside?: string
}

const SECRET = '**redacted**'
const ISSUER = 'auth.oidc.issuer = "https://a.example"'
const CLIENT = 'auth.oidc.client_id = "c"\nauth.oidc.client_secret = "s"'
const PROVIDER = `${ISSUER}\n${CLIENT}`
const RECIPIENT = 'age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p'
const STANDBY = 'module = "gateway"\ngateway.mirror_'
const SAMPLES: Partial<Record<SettingKey, Sample>> = {
  module: { toml: '["worker", "api"]', fileText: 'api,worker', env: 'api' },
  read_only: { toml: 'true', env: '0', envText: 'false' },
  data_dir: { toml: '"/srv/file"', env: '/srv/env' },
  'api.listen': { toml: '"0.0.0.0:1"', env: '[::1]:2' },
  'api.tls.cert_file': { toml: '"/srv/file"', env: '/srv/env', beside: 'api.tls.key_file = "/srv/key"' },
  'api.tls.key_file': { toml: '"/srv/file"', env: '/srv/env', beside: 'api.tls.cert_file = "/srv/cert"' },
  'api.local_listen': {
    toml: '"127.0.0.1:1"',
    env: '[::1]:2',
    beside: 'api.tls.cert_file = "/srv/cert"\napi.tls.key_file = "/srv/key"',
  },
  'api.cors_origins': { toml: '["https://a.example"]', env: 'https://a.example,http://b.example:8080' },
  'api.rate_limit': { toml: '0', env: '7' },
  'gateway.listen': { toml: '"localhost:1"', env: '127.0.0.1:0' },
  'gateway.tls.cert_file': {
    toml: '"/srv/file"',
    env: '/srv/env',
    beside: 'gateway.tls.key_file = "/srv/key"',
  },
  'gateway.tls.key_file': {
    toml: '"/srv/file"',
    env: '/srv/env',
    beside: 'gateway.tls.cert_file = "/srv/cert"',
  },
  'gateway.api_ca_file': { toml: '"/srv/file"', env: '/srv/env' },
  'gateway.mirror_from': {
    toml: '"http://10.0.0.1:9600/"',
    fileText: 'http://10.0.0.1:9600',
    env: 'https://primary.example',
    beside: `${STANDBY}token_file = "/t"`,
  },
  'gateway.mirror_token_file': {
    toml: '"/srv/file"',
    env: '/srv/env',
    beside: `${STANDBY}from = "https://a.example"`,
  },
  'gateway.mirror_max_age': { toml: '"1h"', env: '2d' },
  'gateway.api_url': { toml: '"http://file:1/"', fileText: 'http://file:1', env: 'https://env/api' },
  'gateway.name': { toml: '"from-file"', env: 'from-env' },
  'database.url': {
    toml: '"postgres://canary@a:1,b/platform"',
    fileText: `postgres://${SECRET}@a:1,b/platform`,
    env: 'postgres://me:canary@db/platform?password=canary',
    envText: `postgres://${SECRET}@db/platform?${SECRET}`,
  },
  'database.backup_before_migration': { toml: 'false', env: '1', envText: 'true' },
  'bus.server': {
    toml: '["nats://a:1", "b"]',
    fileText: 'nats://a:1,nats://b:4222',
    env: 'tls://me:canary@c:3',
    envText: `tls://${SECRET}@c:3`,
  },
  'bus.replicas': { toml: '3', env: '5' },
  'auth.jwt_secret': {
    toml: '"canary-9fK2pX7vQmB4tZ8nLw3RsY6jHd"',
    fileText: SECRET,
    env: 'canary-Gx5Wc1Ue7PoN0aVyT3bKiS2lEq',
    envText: SECRET,
  },
  'auth.token_ttl': { toml: '"90m"', env: '7d' },
  'proxy.client_address_from': {
    toml: '["192.0.2.1"]',
    fileText: '192.0.2.1/32',
    env: '10.0.0.0/8, fd00::/8',
    envText: '10.0.0.0/8,fd00::/8',
  },
  'auth.trusted_proxies': {
    toml: '[]',
    fileText: 'none',
    env: '10.0.0.1, fd00::/8',
    envText: '10.0.0.1/32,fd00::/8',
  },
  'auth.oidc.issuer': { toml: '"https://a.example"', env: 'https://b.example/realm/', beside: CLIENT },
  'auth.oidc.discovery_url': { toml: '"https://a.example"', env: 'https://b.example', beside: PROVIDER },
  'auth.oidc.client_id': { toml: '"a"', env: 'b', beside: `${ISSUER}\nauth.oidc.client_secret = "s"` },
  'auth.oidc.client_secret': {
    toml: '"canary"',
    fileText: SECRET,
    env: 'other-canary',
    envText: SECRET,
    beside: `${ISSUER}\nauth.oidc.client_id = "c"`,
  },
  'auth.oidc.redirect_uri': { toml: '"https://a.example/auth/oauth/callback"', env: 'http://b.example/c' },
  'auth.oidc.post_logout_redirect_uri': { toml: '"https://a.example/console/"', env: 'https://b.example/c' },
  'auth.oidc.scopes': { toml: '["openid", "groups"]', fileText: 'openid groups', env: 'openid' },
  'auth.oidc.user_claim': { toml: '"email"', env: 'preferred_username' },
  'auth.oidc.roles_claim': { toml: '"groups"', env: 'realm_access.roles', beside: PROVIDER },
  'auth.oidc.role_map': {
    toml: '{ "a b" = "admin", c = ["devops", "auditor"] }',
    fileText: '{"a b":["admin"],"c":["devops","auditor"]}',
    env: '{"a":"admin"}',
    envText: '{"a":["admin"]}',
    beside: `${PROVIDER}\nauth.oidc.roles_claim = "groups"`,
  },
  'auth.oidc.default_roles': { toml: '["admin"]', fileText: 'admin', env: 'devops,auditor' },
  'auth.oidc.create_users': { toml: 'true', env: '1', envText: 'true' },
  'auth.oidc.sync_roles': { toml: 'true', env: '1', envText: 'true' },
  'auth.oidc.allow_insecure_endpoints': { toml: 'true', env: '1', envText: 'true' },
  'vpn.ip_pool': { toml: '"10.0.0.0/30"', env: '100.64.0.0/10' },
  'vpn.heartbeat': { toml: '"1s"', env: '200ms' },
  'vpn.cool_down': { toml: '"0s"', fileText: '0ms', env: '2s' },
  'vpn.connection_rate': { toml: '1', env: '2' },
  'vpn.connection_burst': { toml: '3', env: '4' },
  'vpn.sessions_per_user': { toml: '1', env: '2' },
  'orders.expiry': { toml: '"1h"', env: '2h' },
  'orders.archive_after': { toml: '"90d"', env: '1d' },
  'audit.keep': { toml: '"100d"', env: '200d' },
  'messages.keep': { toml: '"1d"', env: '2d' },
  'telemetry.max_pending': { toml: '1', env: '2' },
  'telemetry.rate': { toml: '1', env: '2' },
  'telemetry.otlp_endpoint': { toml: '"http://127.0.0.1:4318"', env: 'https://collector.example.org' },
  'worker.listen': { toml: '"127.0.0.1:1"', env: '127.0.0.1:2' },
  'worker.order_scan': { toml: '"1s"', env: '2s' },
  'worker.certificate_scan': { toml: '"1s"', env: '2s' },
  'commands.approval_ttl': { toml: '"30m"', env: '2h' },
  'commands.approval_receivers': {
    toml: '["mail", "chat"]',
    fileText: 'mail,chat',
    env: 'chat',
    beside: ['mail', 'chat']
      .map((name) => `receivers.${name} = { kind = "slack", url = "https://hooks/" }`)
      .join('\n'),
  },
  'commands.start_within': { toml: '"20m"', env: '3h' },
  'alerts.acknowledge_for': { toml: '"1h"', env: '2h' },
  'alerts.keep': { toml: '"30d"', env: '60d' },
  'alerts.webhook_stale_after': { toml: '"12h"', env: '36h' },
  'alerts.default_receivers': {
    toml: '["mail", "chat"]',
    fileText: 'mail,chat',
    env: 'chat',
    beside: ['mail', 'chat']
      .map((name) => `receivers.${name} = { kind = "slack", url = "https://hooks/" }`)
      .join('\n'),
  },
  'alerts.robot.url': {
    toml: '"https://robot/canary"',
    fileText: SECRET,
    env: 'https://robot/other-canary',
    envText: SECRET,
    beside: 'alerts.robot.kind = "slack"',
  },
  'alerts.robot.kind': { toml: '"slack"', env: 'feishu', beside: 'alerts.robot.url = "https://robot/"' },
  'alerts.robot.chat_id': {
    toml: '-1001',
    env: '@ops',
    beside: 'alerts.robot.url = "https://robot/"\nalerts.robot.kind = "telegram"',
  },
  'alerts.robot.secret': {
    toml: '"canary"',
    fileText: SECRET,
    env: 'other-canary',
    envText: SECRET,
    beside: 'alerts.robot.url = "https://robot/"\nalerts.robot.kind = "slack"',
  },
  'alerts.robot.min_severity': { toml: '"info"', fileText: 'INFO', env: 'Critical', envText: 'CRITICAL' },
  'webhooks.allow_private': {
    toml: '["10.0.0.0/8"]',
    fileText: '10.0.0.0/8',
    env: '127.0.0.1, ::1/128',
    envText: '127.0.0.1/32,::1/128',
  },
  'console.url': { toml: '"https://shop.example.org"', env: 'http://127.0.0.1:9600' },
  'payments.currency': { toml: '"EUR"', env: 'USD' },
  'payments.public_url': { toml: '"https://shop.example.org"', env: 'http://127.0.0.1:9600' },
  'payments.time_zone': { toml: '"Europe/Berlin"', env: 'UTC' },
  'payments.reconcile_at': { toml: '"11:00"', env: '12:30' },
  'payments.refund_late': { toml: 'true', env: '1', envText: 'true' },
  'data.backup_every': { toml: '"1d"', env: '6h' },
  'data.backup_keep': { toml: '1', env: '30' },
  'backup.install_root': { toml: '"/srv/file"', env: '/srv/env' },
  'backup.database': {
    toml: '"/srv/file.db"',
    env: 'postgres://me:canary@db/platform',
    envText: `postgres://${SECRET}@db/platform`,
  },
  'backup.logs': { toml: '["/a,b", "/c"]', fileText: '["/a,b","/c"]', env: '/d, /e', envText: '["/d","/e"]' },
  'backup.logs_optional': { toml: '["/c"]', fileText: '["/c"]', env: '/d', envText: '["/d"]' },
  'backup.staging': { toml: '"/srv/file"', env: '/srv/env' },
  'backup.time_zone': { toml: '"Europe/Berlin"', env: 'Asia/Shanghai' },
  'backup.compression': { toml: '"gzip"', env: 'zstd' },
  'backup.encryption.recipients': {
    toml: `["${RECIPIENT}"]`,
    fileText: `["${RECIPIENT}"]`,
    env: `${RECIPIENT},${RECIPIENT}`,
    envText: `["${RECIPIENT}","${RECIPIENT}"]`,
  },
  'backup.encryption.identity_file': { toml: '"/srv/file"', env: '/srv/env' },
  'backup.drive.api_url': { toml: '"http://file:1/"', fileText: 'http://file:1', env: 'https://env' },
  'backup.drive.api_prefix': { toml: '"/a/"', fileText: '/a', env: '/b/v2' },
  'backup.drive.token_file': { toml: '"/srv/file"', env: '/srv/env' },
  'backup.drive.secrets_file': { toml: '"/srv/file"', env: '/srv/env' },
  'backup.drive.part_size': { toml: '"1MiB"', env: '5000000', envText: '5000000' },
  'backup.upload.bytes_per_second': { toml: '1000', env: '10MB', envText: '10000000' },
  'backup.remote_keep.daily': { toml: '1', env: '2' },
  'backup.remote_keep.weekly': { toml: '1', env: '0' },
  'backup.remote_keep.monthly': { toml: '1', env: '2' },
  'backup.platform_api': { toml: '"http://file:1/"', fileText: 'http://file:1', env: 'https://env' },
  'backup.server': { toml: '"standby"', env: 'primary' },
  'backup.window_start': { toml: '"01:30"', env: '00:00' },
  'backup.window_end': { toml: '"05:30"', env: '23:59' },
  'backup.retry_every': { toml: '"10m"', env: '1h' },
  'backup.clean': { toml: '["tmp"]', fileText: '["tmp"]', env: 'none' },
  'backup.tmp_dir': { toml: '"/srv/file"', env: '/srv/env' },
  'backup.media_globs': { toml: '["/a/*.ts"]', fileText: '["/a/*.ts"]', env: '/b/*', envText: '["/b/*"]' },
  'backup.reboot': { toml: 'false', env: '0', envText: 'false' },
  'backup.reboot_command': {
    toml: '["kexec", "-e", "a b,c"]',
    fileText: '["kexec","-e","a b,c"]',
    env: '["true"]',
  },
  'backup.standby.gateway_url': {
    toml: '"http://file:1/"',
    fileText: 'http://file:1',
    env: 'https://env',
    beside: 'backup.standby.token_file = "/t"',
  },
  'backup.standby.token_file': {
    toml: '"/srv/file"',
    env: '/srv/env',
    beside: 'backup.standby.gateway_url = "http://a"',
  },
  'backup.selfcheck_for': { toml: '"1m"', env: '1s' },
  'backup.textfile': { toml: '"/srv/file.prom"', env: '/srv/env.prom' },
  'backup.dry_run': { toml: 'true', env: '1', envText: 'true' },
  'log.level': { toml: '"debug"', env: 'error' },
  'log.format': { toml: '"pretty"', env: 'json' },
}

describe('for every setting', () => {
  test('there is a sample', () => {
    assert.deepEqual(Object.keys(SAMPLES), Object.keys(SETTING_TABLE))
  })

  for (const [key, sample] of Object.entries(SAMPLES)) {
    const { toml, fileText = JSON.parse(toml), env, envText = env, beside = '' } = sample
    const setting = SETTING_TABLE[key] ?? assert.fail(key)
    const variable = variablesOf(key, setting).findLast(({ member }) => member === undefined)?.name ?? ''
    const shown = (loaded: LoadedConfig): unknown => loaded.settings.find((each) => each.key === key)

    test(`the environment beats the file, and the file the default: ${key}`, () => {
      const byDefault = shown(load(''))
      const byFile = shown(load(`\n${key} = ${toml}\n${beside}\n`))
      const byEnvironment = shown(load(`${key} = ${toml}\n${beside}\n`, { [variable]: env }))
      assert.deepEqual(byFile, { key, text: String(fileText), source: 'file platform.toml:2' })
      assert.deepEqual(byEnvironment, {
        key,
        text: envText,
        source: `environment ${variable}`,
        overrides: 'file platform.toml:1',
      })
      assert.notDeepEqual(byDefault, byFile)
      assert.partialDeepStrictEqual(byDefault, { key, source: 'default' })
    })

    test(`an empty variable counts as unset: ${key}`, () => {
      assert.deepEqual(shown(load('', { [variable]: '' })), shown(load('')))
    })

    test(`a table in its place is an error that names file, line and key: ${key}`, () => {
      const [line = ''] = configErrorLines(() => load(`# comment\n[${key}]\nx = 1\n`))
      assert.ok(line.startsWith(`file platform.toml:2: ${key}: expected `), line)
    })
  }
})

test('secrets are in the configuration as secrets', () => {
  const config = configOf(
    `auth.jwt_secret = "sss-9fK2pX7vQmB4tZ8nLw3RsY6jHd0c"
     database.url = "postgresql://me:hunter2@db/platform"
     bus.server = "nats://me:p%40ss@bus:1"`,
  )
  assert.equal(config.auth.jwtSecrets?.[0].reveal(), 'sss-9fK2pX7vQmB4tZ8nLw3RsY6jHd0c')
  assert.ok(config.database.kind === 'postgres')
  assert.equal(config.database.url.reveal(), 'postgresql://me:hunter2@db/platform')
  assert.deepEqual(config.bus.server.urls.reveal(), ['nats://me:p%40ss@bus:1'])
  assert.doesNotMatch(JSON.stringify(config), /hunter2|p%40ss|sss/)
})

test('a token of the bus stands before the host alone', () => {
  const { bus } = configOf('bus.server = "nats://token@bus"')
  assert.deepEqual(bus.server.urls.reveal(), ['nats://token@bus:4222'])
  assert.equal(bus.server.text, `nats://${SECRET}@bus:4222`)
})

test('--module beats the environment and the file', () => {
  const { config, settings } = load('module = "api"', { MODULE: 'gateway' }, { moduleOverride: 'worker,api' })
  assert.deepEqual(config.modules, ['api', 'worker'])
  assert.equal(settings[0]?.source, 'option --module')
})

describe('LISTEN_ADDR', () => {
  const env = { LISTEN_ADDR: '127.0.0.1:7', GATEWAY_LISTEN_ADDR: '127.0.0.1:8' }
  for (const module of ['api', 'all', 'api,gateway', 'worker']) {
    test(`is the api's with ${module}`, () => {
      const config = configOf('', { ...env, MODULE: module })
      assert.deepEqual([config.api.listen.port, config.gateway.listen.port], [7, 8])
    })
  }

  for (const module of ['gateway', 'gateway,worker']) {
    test(`is the gateway's with ${module}`, () => {
      const config = configOf('', { ...env, MODULE: module })
      assert.deepEqual([config.api.listen.port, config.gateway.listen.port], [9600, 7])
    })
  }
})

test('the worker listens only where it is told to', () => {
  const listenOf = (module: string) => configOf('', { MODULE: module }).worker.listen
  for (const module of ['worker', 'all', 'api,worker']) assert.equal(listenOf(module), undefined)
  const named = configOf('', { MODULE: 'all', WORKER_LISTEN_ADDR: '127.0.0.1:1' })
  assert.deepEqual(named.worker.listen, { host: '127.0.0.1', port: 1 })
})

test('"none" trusts no proxies, in the environment and in the file', () => {
  assert.deepEqual(configOf('', { TRUSTED_PROXIES: 'none' }).auth.trustedProxies, [])
  assert.deepEqual(configOf('auth.trusted_proxies = "none"').auth.trustedProxies, [])
  assert.deepEqual(configOf('auth.trusted_proxies = []').auth.trustedProxies, [])
})

test('without a setting of its own, no proxy that names its callers is trusted with identity headers', () => {
  const trustedBeside = (proxies: string, env: Record<string, string> = {}) =>
    configOf('', { PROXY_CLIENT_ADDRESS_FROM: proxies, ...env }).auth.trustedProxies.map(({ text }) => text)
  assert.deepEqual(trustedBeside('127.0.0.1'), ['::1/128'])
  assert.deepEqual(trustedBeside('::1, 127.0.0.0/16'), [])
  assert.deepEqual(trustedBeside('0.0.0.0/0'), ['::1/128'])
  assert.deepEqual(trustedBeside('10.0.0.1'), ['127.0.0.0/8', '::1/128'])
  assert.deepEqual(trustedBeside('127.0.0.1', { TRUSTED_PROXIES: '127.0.0.1' }), ['127.0.0.1/32'])
})

test('a gateway without an api in its process uses the default address of the api', () => {
  assert.equal(configOf('', { MODULE: 'gateway' }).gateway.apiUrl, 'http://127.0.0.1:9600')
  assert.equal(configOf('', { MODULE: 'gateway,api' }).gateway.apiUrl, undefined)
  assert.equal(configOf('', { GATEWAY_API_URL: 'http://a:1' }).gateway.apiUrl, 'http://a:1')
})

test('a standby passes requests to the api of its primary, unless it has another address', () => {
  const standby = {
    MODULE: 'gateway',
    GATEWAY_MIRROR_FROM: 'http://10.0.0.1:1',
    GATEWAY_MIRROR_TOKEN_FILE: '/t',
  }
  assert.equal(configOf('', standby).gateway.apiUrl, 'http://10.0.0.1:1')
  assert.equal(configOf('gateway.api_url = "http://a:1"', standby).gateway.apiUrl, 'http://a:1')
})

test('the log is pretty on a terminal, unless the format is set', () => {
  assert.equal(configOf('', {}, { terminal: true }).log.format, 'pretty')
  assert.equal(configOf('log.format = "json"', {}, { terminal: true }).log.format, 'json')
})

test('relative paths start at the working directory', () => {
  const config = configOf('data_dir = "x"\ndatabase.url = "sqlite:y/z.db"')
  assert.equal(config.dataDir, path('x'))
  assert.deepEqual(config.database, { kind: 'sqlite', path: path('y/z.db') })
})

describe('for any file and environment', () => {
  const keys: readonly string[] = [...Object.keys(SETTING_TABLE), 'backup', 'auth', '__proto__', 'a."b c"']
  const samples = Object.values(SAMPLES)
  const junk = fc.string({ unit: 'binary', maxLength: 20 })
  const literals = [...samples.map((sample) => sample.toml), '[[', '{ a = 1 }', '"""', '1e400']
  const value = fc.oneof(junk, fc.constantFrom(...literals))
  const entry = fc.tuple(fc.constantFrom(...keys), value).map(([key, text]) => `${key} = ${text}`)
  const line = fc.oneof(
    junk,
    entry,
    fc.constantFrom(...keys).map((key) => `[${key}]`),
  )
  const toml = fc.array(line, { maxLength: 12 }).map((lines) => lines.join('\n'))
  const variables = Object.entries(SETTING_TABLE).flatMap(([key, setting]) =>
    variablesOf(key, setting).map(({ name }) => name),
  )
  const env = fc.dictionary(
    fc.constantFrom(...variables, 'PLATFORM_CONFIG', 'PATH'),
    fc.oneof(junk, fc.constantFrom(...samples.map((sample) => sample.env))),
  )

  test('the configuration is loaded, or refused with one line for each problem', () => {
    const outcomes = { loaded: 0, refused: 0 }
    fc.assert(
      fc.property(toml, env, (text, environment) => {
        try {
          assert.ok(Object.isFrozen(load(text, environment).config))
          outcomes.loaded++
        } catch (error) {
          assert.ok(error instanceof ConfigError, String(error))
          assert.ok(error.problems.length > 0)
          assert.equal(error.message.split('\n').length, error.problems.length)
          outcomes.refused++
        }
      }),
      { numRuns: 1_000 },
    )
    assert.ok(outcomes.loaded > 0 && outcomes.refused > 0, JSON.stringify(outcomes))
  })

  test('bytes that are not text are refused or read, and cause no other error', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
        try {
          load(bytes)
        } catch (error) {
          assert.ok(error instanceof ConfigError, String(error))
        }
      }),
      { numRuns: 300 },
    )
  })
})
