import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, test } from 'node:test'
import fc from 'fast-check'
import { ConfigError } from './config-error.ts'
import { loadConfig } from './config.ts'
import type { Config, LoadedConfig, LoadOptions } from './config.ts'
import type { Environment } from './env.ts'
import { BACKUP_KEYS, SETTING_LIST } from './schema.ts'
import type { SettingKey } from './schema.ts'

let cwd: string

beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'config-'))
})

afterEach(() => {
  rmSync(cwd, { recursive: true })
})

function load(
  toml: string | Uint8Array,
  env: Environment = {},
  options: Partial<LoadOptions> = {},
): LoadedConfig {
  writeFileSync(join(cwd, 'platform.toml'), toml)
  return loadConfig({ env, cwd, ...options })
}

function configOf(toml: string, env: Environment = {}, options: Partial<LoadOptions> = {}): Config {
  return load(toml, env, options).config
}

function errorLines(read: () => unknown): readonly string[] {
  try {
    read()
  } catch (error) {
    assert.ok(error instanceof ConfigError, String(error))
    return error.message.split('\n')
  }
  return assert.fail('the configuration was accepted')
}

function withoutFile(env: Environment = {}, options: Partial<LoadOptions> = {}): LoadedConfig {
  return loadConfig({ env, cwd, systemConfigPath: join(cwd, 'none.toml'), ...options })
}

test('without a file and an environment everything has its default', () => {
  const { config, file } = withoutFile()
  assert.equal(file, undefined)
  assert.deepEqual(JSON.parse(JSON.stringify(config)), {
    modules: ['api', 'gateway', 'worker'],
    readOnly: false,
    dataDir: join(cwd, 'data'),
    api: { listen: { host: '127.0.0.1', port: 9600 }, rateLimitPerMinute: 600_000 },
    gateway: { listen: { host: '127.0.0.1', port: 9994 }, name: hostname() },
    database: { kind: 'sqlite', path: join(cwd, 'data/platform.db') },
    bus: { urls: '**redacted**', text: 'nats://127.0.0.1:9996' },
    auth: {
      tokenTtlMs: 3_600_000,
      trustedProxies: [
        { text: '127.0.0.0/8', address: '127.0.0.0', prefixLength: 8, family: 'ipv4' },
        { text: '::1/128', address: '::1', prefixLength: 128, family: 'ipv6' },
      ],
    },
    vpn: {
      ipPool: { text: '100.64.0.0/16', address: '100.64.0.0', prefixLength: 16, family: 'ipv4' },
      heartbeatMs: 30_000,
      coolDownMs: 60_000,
      connectionsPerSecond: 50,
      connectionBurst: 500,
    },
    orders: { expiryMs: 900_000 },
    messages: { keepMs: 604_800_000 },
    worker: { orderScanMs: 5_000, certificateScanMs: 3_600_000 },
    alerts: {},
    log: { level: 'info', format: 'json' },
  })
})

test('the configuration is frozen to its depth', () => {
  const { config } = withoutFile()
  assert.throws(() => Object.assign(config.api.listen, { port: 1 }), TypeError)
  assert.throws(() => Object.assign(config.auth.trustedProxies, { 0: 'everyone' }), TypeError)
})

// For each setting one value as TOML writes it, another as the environment does, both with how they are shown.
interface Sample {
  readonly toml: string
  readonly fileText?: string
  readonly env: string
  readonly envText?: string
}

const SECRET = '**redacted**'
const SAMPLES: Readonly<Record<SettingKey, Sample>> = {
  module: { toml: '["worker", "api"]', fileText: 'api,worker', env: 'api' },
  read_only: { toml: 'true', env: '0', envText: 'false' },
  data_dir: { toml: '"/srv/file"', env: '/srv/env' },
  'api.listen': { toml: '"0.0.0.0:1"', env: '[::1]:2' },
  'api.rate_limit': { toml: '0', env: '7' },
  'gateway.listen': { toml: '"localhost:1"', env: '127.0.0.1:0' },
  'gateway.api_url': { toml: '"http://file:1/"', fileText: 'http://file:1', env: 'https://env/api' },
  'gateway.name': { toml: '"from-file"', env: 'from-env' },
  'database.url': {
    toml: '"sqlite:/srv/file.db"',
    fileText: '/srv/file.db',
    env: 'postgres://me:canary@db/platform?password=canary',
    envText: `postgres://${SECRET}@db/platform?${SECRET}`,
  },
  'bus.server': {
    toml: '["nats://a:1", "b"]',
    fileText: 'nats://a:1,nats://b:4222',
    env: 'tls://me:canary@c:3',
    envText: `tls://${SECRET}@c:3`,
  },
  'auth.jwt_secret': {
    toml: '"canary-9fK2pX7vQmB4tZ8nLw3RsY6jHd"',
    fileText: SECRET,
    env: 'canary-Gx5Wc1Ue7PoN0aVyT3bKiS2lEq',
    envText: SECRET,
  },
  'auth.token_ttl': { toml: '"90m"', env: '7d' },
  'auth.trusted_proxies': {
    toml: '[]',
    fileText: '',
    env: '10.0.0.1, fd00::/8',
    envText: '10.0.0.1/32,fd00::/8',
  },
  'vpn.ip_pool': { toml: '"10.0.0.0/30"', env: '10.16.0.0/12' },
  'vpn.heartbeat': { toml: '"1s"', env: '200ms' },
  'vpn.cool_down': { toml: '"0s"', fileText: '0ms', env: '2s' },
  'vpn.connection_rate': { toml: '1', env: '2' },
  'vpn.connection_burst': { toml: '3', env: '4' },
  'orders.expiry': { toml: '"1h"', env: '2h' },
  'messages.keep': { toml: '"1d"', env: '2d' },
  'worker.listen': { toml: '"127.0.0.1:1"', env: '127.0.0.1:2' },
  'worker.order_scan': { toml: '"1s"', env: '2s' },
  'worker.certificate_scan': { toml: '"1m"', env: '2m' },
  'alerts.robot.url': {
    toml: '"https://robot/canary"',
    fileText: SECRET,
    env: 'http://robot/',
    envText: SECRET,
  },
  'alerts.robot.kind': { toml: '"slack"', env: 'feishu' },
  'alerts.robot.secret': { toml: '"canary"', fileText: SECRET, env: 'x', envText: SECRET },
  'log.level': { toml: '"debug"', env: 'error' },
  'log.format': { toml: '"pretty"', env: 'json' },
}

// What a setting needs beside it to be complete.
const BESIDE: Partial<Record<SettingKey, string>> = { 'alerts.robot.url': 'alerts.robot.kind = "generic"\n' }

describe('for every setting', () => {
  for (const [key, { environment }] of SETTING_LIST) {
    const { toml, fileText = JSON.parse(toml), env, envText = env } = SAMPLES[key]
    const variable = environment.at(-1)?.name ?? ''
    const shown = (loaded: LoadedConfig): unknown => loaded.settings.find((setting) => setting.key === key)

    test(`the environment beats the file, and the file the default: ${key}`, () => {
      const text = `${BESIDE[key] ?? ''}${key} = ${toml}\n`
      const line = text.trimEnd().split('\n').length
      const byDefault = shown(load(BESIDE[key] ?? ''))
      const byFile = shown(load(text))
      const byEnvironment = shown(load(text, { [variable]: env }))
      assert.deepEqual(byFile, { key, text: String(fileText), source: `file platform.toml:${line}` })
      assert.deepEqual(byEnvironment, { key, text: envText, source: `environment ${variable}` })
      assert.notDeepEqual(byDefault, byFile)
      assert.partialDeepStrictEqual(byDefault, { key, source: 'default' })
    })

    test(`an empty variable counts as unset: ${key}`, () => {
      assert.deepEqual(shown(load('', { [variable]: '' })), shown(load('')))
    })

    test(`a table in its place is an error that names file, line and key: ${key}`, () => {
      const [line = ''] = errorLines(() => load(`# comment\n[${key}]\nx = 1\n`))
      assert.ok(line.startsWith(`file platform.toml:2: ${key}: expected `), line)
    })
  }
})

test('secrets are in the configuration as secrets', () => {
  const config = configOf(
    `auth.jwt_secret = "sss-9fK2pX7vQmB4tZ8nLw3RsY6jHd0c"
     alerts.robot = { url = "https://robot/key", kind = "slack", secret = "sign" }
     database.url = "postgresql://me:hunter2@db/platform"
     bus.server = "nats://me:p%40ss@bus:1"`,
  )
  assert.equal(config.auth.jwtSecret?.reveal(), 'sss-9fK2pX7vQmB4tZ8nLw3RsY6jHd0c')
  assert.equal(config.alerts.robot?.url.reveal(), 'https://robot/key')
  assert.equal(config.alerts.robot?.secret?.reveal(), 'sign')
  assert.ok(config.database.kind === 'postgres')
  assert.equal(config.database.url.reveal(), 'postgresql://me:hunter2@db/platform')
  assert.deepEqual(config.bus.urls.reveal(), ['nats://me:p%40ss@bus:1'])
  assert.doesNotMatch(JSON.stringify(config), /hunter2|p%40ss|sign"|robot\/key|sss/)
})

test('a token of the bus stands before the host alone', () => {
  const { bus } = configOf('bus.server = "nats://token@bus"')
  assert.deepEqual(bus.urls.reveal(), ['nats://token@bus:4222'])
  assert.equal(bus.text, `nats://${SECRET}@bus:4222`)
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

test('a gateway without an api of its own goes to the customary one', () => {
  assert.equal(configOf('', { MODULE: 'gateway' }).gateway.apiUrl, 'http://127.0.0.1:9600')
  assert.equal(configOf('', { MODULE: 'gateway,api' }).gateway.apiUrl, undefined)
  assert.equal(configOf('', { GATEWAY_API_URL: 'http://a:1' }).gateway.apiUrl, 'http://a:1')
})

test('the log is pretty on a terminal, unless it is told otherwise', () => {
  assert.equal(configOf('', {}, { terminal: true }).log.format, 'pretty')
  assert.equal(configOf('log.format = "json"', {}, { terminal: true }).log.format, 'json')
})

test('relative paths start at the working directory', () => {
  const config = configOf('data_dir = "x"\ndatabase.url = "sqlite:y/z.db"')
  assert.equal(config.dataDir, join(cwd, 'x'))
  assert.deepEqual(config.database, { kind: 'sqlite', path: join(cwd, 'y/z.db') })
})

describe('whatever the file and the environment hold', () => {
  const keys: readonly string[] = [
    ...SETTING_LIST.map(([key]) => key),
    ...BACKUP_KEYS,
    'auth',
    '__proto__',
    'a."b c"',
  ]
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
  const variables = SETTING_LIST.flatMap(([, { environment }]) => environment.map(({ name }) => name))
  const env = fc.dictionary(
    fc.constantFrom(...variables, 'PLATFORM_CONFIG', 'PATH'),
    fc.oneof(junk, fc.constantFrom(...samples.map((sample) => sample.env))),
  )

  test('it is loaded whole, or refused with problems that are one line each', () => {
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

  test('bytes that are no text are refused or read, never more', () => {
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
