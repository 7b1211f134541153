import assert from 'node:assert/strict'
import { resolve } from 'node:path'
import { test } from 'node:test'
import { parseOptions, UsageError } from './options.ts'

const DAY = 86_400_000

test('without arguments every option has its default', () => {
  assert.deepEqual(parseOptions([], {}), {
    api: 'http://127.0.0.1:9990',
    stateFile: '/var/lib/platform-ticket-notify/ticket-notify-state.json',
    limit: 500,
    dryRun: false,
    seedOnly: false,
    selfTest: false,
    help: false,
    keyFile: '/var/lib/platform/identity-key',
    identity: { name: 'ticket-notify', roles: 'service' },
    freshMs: 3_600_000,
    maxNotify: 20,
    keepMs: 30 * DAY,
    digest: true,
  })
})

test('every variable is used, and an argument beats its variable', () => {
  const env = {
    PLATFORM_API: 'https://platform.example/base/',
    OPS_DIR: '/srv/ops',
    TICKET_NOTIFY_IDENT: 'ops-1',
    TICKET_NOTIFY_KEY_FILE: '/run/key',
    TICKET_NOTIFY_ROLES: 'devops,auditor',
    TICKET_NOTIFY_FRESH_MINUTES: '5',
    TICKET_NOTIFY_MAX_NOTIFY: '3',
    TICKET_NOTIFY_STATE_KEEP_DAYS: '2',
    TICKET_NOTIFY_DIGEST: '0',
  }
  const fromEnv = parseOptions([], env)
  assert.equal(fromEnv.api, 'https://platform.example/base')
  assert.equal(fromEnv.stateFile, '/srv/ops/ticket-notify-state.json')
  assert.equal(fromEnv.keyFile, '/run/key')
  assert.deepEqual(fromEnv.identity, { name: 'ops-1', roles: 'devops,auditor' })
  assert.deepEqual(
    [fromEnv.freshMs, fromEnv.maxNotify, fromEnv.keepMs, fromEnv.digest],
    [300_000, 3, 2 * DAY, false],
  )
  const argv = ['--api', 'http://10.0.0.1:1', '--state', 's.json', '--limit', '7']
  const given = parseOptions([...argv, '--dry-run', '--seed-only'], env)
  assert.deepEqual([given.api, given.stateFile, given.limit], ['http://10.0.0.1:1', resolve('s.json'), 7])
  assert.ok(given.dryRun && given.seedOnly && !given.selfTest)
  assert.ok(parseOptions(['--self-test'], env).selfTest)
})

test('an empty variable counts as unset', () => {
  const names = [
    'PLATFORM_API',
    'OPS_DIR',
    'TICKET_NOTIFY_IDENT',
    'TICKET_NOTIFY_FRESH_MINUTES',
    'TICKET_NOTIFY_DIGEST',
  ]
  assert.deepEqual(
    parseOptions([], Object.fromEntries(names.map((name) => [name, '']))),
    parseOptions([], {}),
  )
})

for (const value of ['0', '-1', '-5', '1.5', 'many', '', '1e3', '99999999999']) {
  test(`--limit ${value || '(empty)'} is refused, because the limit must be a positive integer`, () => {
    for (const argv of [['--limit', value], [`--limit=${value}`]]) {
      assert.throws(() => parseOptions(argv, {}), {
        name: 'UsageError',
        message: /limit must be a positive integer/,
      })
    }
  })
}

for (const name of ['FRESH_MINUTES', 'MAX_NOTIFY', 'STATE_KEEP_DAYS']) {
  for (const value of ['0', '-1', 'x', '2.5', 'Infinity', 'NaN', '0x10']) {
    test(`TICKET_NOTIFY_${name}=${value} is refused with its name`, () => {
      const env = { [`TICKET_NOTIFY_${name}`]: value }
      assert.throws(() => parseOptions([], env), {
        name: 'UsageError',
        message: new RegExp(`TICKET_NOTIFY_${name}`),
      })
    })
  }
}

const WRONG: readonly [argv: string[], env: Record<string, string>, names: RegExp][] = [
  [['--unknown'], {}, /--unknown/],
  [['surplus'], {}, /surplus/],
  [['--limit'], {}, /--limit/],
  [['--dry-run=yes'], {}, /--dry-run/],
  [['--api', 'nowhere'], {}, /--api/],
  [['--api', 'ftp://host'], {}, /--api/],
  [['--api', 'http://user:pass@host'], {}, /--api/],
  [['--state', ''], {}, /--state/],
  [['--self-test', '--seed-only'], {}, /--self-test/],
  [[], { PLATFORM_API: 'x' }, /PLATFORM_API/],
  [[], { TICKET_NOTIFY_IDENT: 'a\r\nX-User-Roles: admin' }, /TICKET_NOTIFY_IDENT/],
  [[], { TICKET_NOTIFY_ROLES: 'dienst, überall' }, /TICKET_NOTIFY_ROLES/],
  [[], { TICKET_NOTIFY_DIGEST: 'no' }, /TICKET_NOTIFY_DIGEST/],
]

for (const [argv, env, names] of WRONG) {
  test(`${JSON.stringify({ argv, ...env })} is refused in one line with its name`, () => {
    assert.throws(
      () => parseOptions(argv, env),
      (error) => error instanceof UsageError && names.test(error.message) && !error.message.includes('\n'),
    )
  })
}
