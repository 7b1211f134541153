import assert from 'node:assert/strict'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { configErrorLines, configFiles } from '../../test/support/config-files.ts'
import type { Environment } from './env.ts'
import type { SettingKey } from './schema.ts'

const { path, load, withoutFile } = configFiles()

describe('the file', () => {
  test('is the one of --config, then of PLATFORM_CONFIG, then of the working directory, then of the system', () => {
    const names = ['option', 'variable', 'platform', 'system']
    for (const name of names) writeFileSync(path(`${name}.toml`), `gateway.name = "${name}"`)
    const found = (configPath: string | undefined, env: Environment): string =>
      withoutFile(env, { configPath, systemConfigPath: path('system.toml') }).config.gateway.name
    assert.equal(found('option.toml', { PLATFORM_CONFIG: 'variable.toml' }), 'option')
    assert.equal(found(undefined, { PLATFORM_CONFIG: path('variable.toml') }), 'variable')
    assert.equal(found(undefined, { PLATFORM_CONFIG: '' }), 'platform')
    rmSync(path('platform.toml'))
    assert.equal(found(undefined, {}), 'system')
  })

  test('must exist when it is named', () => {
    const byOption = configErrorLines(() => withoutFile({}, { configPath: 'gone.toml' }))
    assert.deepEqual(byOption, ['option --config: expected a file that exists, got "gone.toml"'])
    const byVariable = configErrorLines(() => withoutFile({ PLATFORM_CONFIG: 'gone.toml' }))
    assert.deepEqual(byVariable, [
      'environment PLATFORM_CONFIG: expected a file that exists, got "gone.toml"',
    ])
  })

  test('must be readable when it exists', () => {
    mkdirSync(path('platform.toml'))
    assert.deepEqual(
      configErrorLines(() => withoutFile()),
      ['file platform.toml: expected a readable file, got EISDIR'],
    )
  })

  test(
    'that this user cannot read is refused with the commands that make it readable',
    { skip: process.getuid?.() !== 0 && 'only root can become another user' },
    () => {
      writeFileSync(path('platform.toml'), '', { mode: 0o600 })
      process.seteuid?.(65_534)
      try {
        const [line = ''] = configErrorLines(() => withoutFile())
        assert.match(
          line,
          /^file platform\.toml: expected a file that the user \d+ can read \(run as root: chgrp/,
        )
      } finally {
        process.seteuid?.(0)
      }
    },
  )

  test('may begin with a byte order mark', () => {
    assert.equal(load('\uFEFFread_only = true').config.readOnly, true)
  })

  test('is refused when it is not UTF-8 or very large', () => {
    assert.deepEqual(
      configErrorLines(() => load(Buffer.from([0x61, 0xff]))),
      ['file platform.toml: expected text in UTF-8'],
    )
    assert.deepEqual(
      configErrorLines(() => load('#'.repeat(65_537))),
      ['file platform.toml: expected at most 64 KiB of TOML, got 65537 bytes'],
    )
  })

  test('with an error in its syntax is refused with line and column, without what stands there', () => {
    const lines = configErrorLines(() => load('read_only = true\n\nauth.jwt_secret = "canary\n'))
    assert.equal(lines.length, 1)
    assert.match(lines[0] ?? '', /^file platform\.toml:3: expected valid TOML \(column \d+: .+\)$/)
    assert.doesNotMatch(lines[0] ?? '', /canary/)
  })
})

for (const wrong of ['', 'none', 'api,api', 'all,api', 'api,', 'api gateway']) {
  test(`the modules ${JSON.stringify(wrong)} are refused`, () => {
    const [line] = configErrorLines(() => load('', {}, { moduleOverride: wrong }))
    assert.equal(
      line,
      `option --module: module: expected all, or a list without repetition of api, gateway, worker, got ${JSON.stringify(wrong)}`,
    )
  })
}

test('a value where a table belongs is an error', () => {
  assert.deepEqual(
    configErrorLines(() => load('log = "info"')),
    ['file platform.toml:1: log: expected a table [log]'],
  )
})

describe('an unknown key is an error', () => {
  const cases: readonly (readonly [name: string, toml: string, line: string])[] = [
    [
      'with a hint at one that is close',
      '[auth]\n\ntoken_tll = "1h"',
      '3: auth.token_tll: expected a known key, did you mean auth.token_ttl?',
    ],
    [
      'with a hint at the table it belongs to',
      'jwt_secret = "x"',
      '1: jwt_secret: expected a known key, did you mean auth.jwt_secret?',
    ],
    [
      'with a hint at a table that is close',
      '[gatway]\nlisten = "x"',
      '1: gatway: expected a known key, did you mean gateway?',
    ],
    ['without a hint when none is close', '\nhttp = { body_limit = 1 }', '2: http: expected a known key'],
    ['even when it is a table without keys', '[nothing_like_it]', '1: nothing_like_it: expected a known key'],
    [
      'when a dot in it is part of its name',
      '"log.level" = "info"',
      '1: "log.level": expected a known key, did you mean log.level?',
    ],
    ['when it is a name of every object', '__proto__ = 1', '1: __proto__: expected a known key'],
  ]
  for (const [name, toml, line] of cases) {
    test(name, () => {
      assert.deepEqual(
        configErrorLines(() => load(toml)),
        [`file platform.toml:${line}`],
      )
    })
  }
})

describe('a wrong value is an error', () => {
  const cases: readonly (readonly [key: SettingKey, ...toml: string[]])[] = [
    ['read_only', '"true"', '1'],
    ['data_dir', '""', '"a\\u0000b"', '1'],
    [
      'api.listen',
      '""',
      '"9600"',
      '":9600"',
      '"a:65536"',
      '"127.0.0.256:1"',
      '"::1:1"',
      '"[a]:1"',
      '"a b:1"',
      '9600',
    ],
    ['api.rate_limit', '-1', '1.5', '"1"', 'nan', 'inf'],
    ['gateway.api_url', '"ftp://a"', '"a:1"', '"http://"', '"http://me:x@a"', '"http://a?b"'],
    [
      'gateway.mirror_from',
      '"http://primary.example"',
      '"http://192.0.2.1:9600"',
      '"http://172.32.0.1"',
      '"http://[2001:db8::1]"',
      '"https://me:x@a"',
      '"ftp://10.0.0.1"',
    ],
    ['gateway.mirror_max_age', '"0s"', '3600'],
    ['gateway.name', '"a b"', '""'],
    [
      'database.url',
      '"mysql://a"',
      '":memory:"',
      '"sqlite::memory:"',
      '"sqlite:"',
      '""',
      '"postgres:a"',
      '"postgres//host/shop"',
      '"me@host/shop"',
      '"platform.db "',
      '" "',
      '"file:x"',
    ],
    ['bus.server', '[]', '"http://a"', '"nats://a/x"', '[1]'],
    ['auth.jwt_secret', '"short"', '""', '1', `"${'changeme'.repeat(4)}"`],
    ['auth.token_ttl', '"0s"', '"1 hour"', '"h"', '3600', '02:00:00', '"999999999d"', '"31d"', '"30d1s"'],
    [
      'auth.trusted_proxies',
      '["10.0.0.0/33"]',
      '["::/129"]',
      '["a"]',
      '[""]',
      '["10.0.0.0/8/8"]',
      '["fe80::1%eth0"]',
      '[["::1"]]',
      '"1.2.3.4/-1"',
      '"none,::1"',
      '""',
    ],
    ['proxy.client_address_from', '["10.0.0.0/33"]', '["proxy.example"]', '["::1", ""]', '1'],
    [
      'vpn.ip_pool',
      '"10.0.0.0/31"',
      '"10.0.0.0/7"',
      '"10.0.0.1/30"',
      '"fd00::/64"',
      '"10.0.0.0"',
      '"10.0.0/24"',
    ],
    ['vpn.heartbeat', '"0s"', '"25d"'],
    ['vpn.connection_rate', '0'],
    ['vpn.sessions_per_user', '0'],
    ['log.level', '"INFO"', '"verbose"'],
  ]
  for (const [key, ...values] of cases) {
    for (const value of values) {
      test(`${key} = ${value}`, () => {
        const lines = configErrorLines(() => load(`\n${key} = ${value}`))
        assert.equal(lines.length, 1)
        assert.ok(lines[0]?.startsWith(`file platform.toml:2: ${key}: expected `), String(lines[0]))
      })
    }
  }

  test('that says what was expected and what the value was', () => {
    assert.deepEqual(
      configErrorLines(() => load('[vpn]\nheartbeat = "often"')),
      [
        'file platform.toml:2: vpn.heartbeat: expected a duration such as 30s, 15m, 2h or 7d, from 1ms to 24d, got "often"',
      ],
    )
  })

  test('that is one line, shortened when the value is long', () => {
    const [line, ...others] = configErrorLines(() =>
      load('', { LOG_LEVEL: `a\n\u2028${'b'.repeat(10_000)}` }),
    )
    assert.deepEqual(others, [])
    assert.ok((line ?? '').length < 200)
  })

  test('that shows no secret', () => {
    const lines = configErrorLines(() =>
      load('auth.jwt_secret = "canary"\nalerts.robot.url = "canary"\n', {
        DATABASE_URL: 'mysql://me:canary@db',
        BUS_SERVER: 'http://me:canary@bus',
        GATEWAY_API_URL: 'http://me:canary@api',
      }),
    )
    assert.equal(lines.length, 5)
    assert.doesNotMatch(lines.join(), /canary/)
  })
})

describe('a standby', () => {
  const from = 'gateway.mirror_from = "http://127.0.0.1:9600"'
  const tokenFile = 'gateway.mirror_token_file = "/t"'

  test('needs the address of its primary and a token', () => {
    assert.deepEqual(
      configErrorLines(() => load(from, { MODULE: 'gateway' })),
      ['file platform.toml:1: gateway.mirror_from: expected gateway.mirror_token_file beside it'],
    )
    assert.deepEqual(
      configErrorLines(() => load(tokenFile, { MODULE: 'gateway' })),
      ['file platform.toml:1: gateway.mirror_token_file: expected gateway.mirror_from beside it'],
    )
  })

  test('does not run the module api', () => {
    assert.deepEqual(
      configErrorLines(() => load(`${from}\n${tokenFile}`)),
      [
        'file platform.toml:1: gateway.mirror_from: expected no value in a process with the module api, which has users of its own',
      ],
    )
  })

  for (const host of [
    'localhost',
    '[::1]',
    '10.1.2.3',
    '172.16.0.1',
    '192.168.0.1',
    '100.64.0.1',
    '[fd00::1]',
  ]) {
    test(`may read its primary without TLS at ${host}`, () => {
      const env = { MODULE: 'gateway,worker', GATEWAY_MIRROR_FROM: `http://${host}:9600` }
      assert.equal(load(tokenFile, env).config.gateway.mirrorFrom, `http://${host}:9600`)
    })
  }
})

test('all problems are reported at once', () => {
  const toml = 'modul = "api"\n[log]\nlevel = "loud"\n'
  const lines = configErrorLines(() => load(toml, { TOKEN_TTL: 'soon', MODULE: 'nothing' }, {}))
  assert.deepEqual(
    lines.map((line) => line.split(': expected', 1)[0]),
    [
      'file platform.toml:1: modul',
      'environment MODULE: module',
      'environment TOKEN_TTL: auth.token_ttl',
      'file platform.toml:3: log.level',
    ],
  )
})
