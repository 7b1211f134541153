import assert from 'node:assert/strict'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { loadConfig } from './config.ts'
import { readReceiverSecrets } from './receivers.ts'

const WEBHOOK_SECRET = `whsec_${Buffer.alloc(32, 'canary').toString('base64')}`

function configWorld() {
  const directory = mkdtempSync(join(tmpdir(), 'receivers-config-'))
  const write = (name: string, text: string, mode = 0o600) => {
    writeFileSync(join(directory, name), text)
    chmodSync(join(directory, name), mode)
    return join(directory, name)
  }
  return {
    write,
    load(toml: string) {
      write('platform.toml', toml)
      return loadConfig({ env: {}, cwd: directory })
    },
    [Symbol.dispose]: () => rmSync(directory, { recursive: true }),
  }
}

const CHAT = '[receivers.chat]\nkind = "slack"\nurl = "https://hooks/canary"\n'
const MAIL =
  '[receivers.mail]\nkind = "mail"\nsmtp_url = "smtp://mail"\nfrom = "Platform <p@example.org>"\nto = ["ops@example.org"]\n'
const route = (lines: string) => `${CHAT}[[alerts.routes]]\nreceivers = ["chat"]\n${lines}`

test('receivers and routes of the file are in the configuration, each route with its name or number', () => {
  using w = configWorld()
  const { config, settings } = w.load(`${CHAT}${MAIL}
[[alerts.routes]]
match = { source = "platform.backup*", alarm_id = "backup.failed" }
min_severity = "error"
receivers = ["chat", "mail"]
repeat_every = "4h"
escalate = [{ after = "1h", receivers = ["mail"] }, { after = "1s", receivers = ["chat"] }]
continue = true
[[alerts.routes]]
name = "night"
receivers = ["mail"]
[alerts.routes.hours]
days = ["mon-fri", "sun"]
from = "20:00"
to = "08:00"
time_zone = "Europe/Berlin"
critical = true
`)
  assert.deepEqual(
    config.receivers.map(({ name, kind, to }) => [name, kind, to]),
    [
      ['chat', 'slack', undefined],
      ['mail', 'mail', ['ops@example.org']],
    ],
  )
  const [first, night] = config.alerts.routes
  assert.deepEqual([first?.name, night?.name], [1, 'night'])
  assert.deepEqual(first?.match, { source: 'platform.backup*', alarm_id: 'backup.failed' })
  assert.deepEqual([first.minSeverity, first.repeatEveryMs, first.continue], ['ERROR', 14_400_000, true])
  assert.deepEqual(
    first.escalate.map(({ afterMs }) => afterMs),
    [1_000, 3_600_000],
  )
  assert.deepEqual(night?.hours, {
    days: ['mon', 'tue', 'wed', 'thu', 'fri', 'sun'],
    from: '20:00',
    to: '08:00',
    timeZone: 'Europe/Berlin',
    critical: true,
  })
  assert.ok(!JSON.stringify(settings).includes('canary'))
})

for (const [from, to] of [
  ['08:00', '24:00'],
  ['00:00', '24:00'],
] as const)
  test(`hours from ${from} to ${to} last until the end of the day`, () => {
    using w = configWorld()
    const { config } = w.load(route(`hours = { ${HOURS.replace('08:00', from).replace('20:00', to)} }`))
    const { hours } = config.alerts.routes[0] ?? {}
    assert.deepEqual([hours?.from, hours?.to], [from, to])
  })

test('without tables there are no receivers and no routes', () => {
  using w = configWorld()
  const { config } = w.load('')
  assert.deepEqual([config.receivers, config.alerts.routes], [[], []])
})

const HOURS = 'from = "08:00", to = "20:00", time_zone = "Europe/Berlin"'

for (const [what, toml, message] of [
  ['an unknown kind', '[receivers.a]\nkind = "pigeon"', /toml:2: receivers\.a\.kind: expected one of feishu/],
  ['no kind', '[receivers.a]\nurl = "https://a"', /receivers\.a\.kind: expected one of/],
  ['a reserved name', CHAT.replace('chat', 'robot'), /receivers\.robot: expected another name/],
  ['a name in capitals', CHAT.replace('chat', 'CHAT'), /receivers\.CHAT: expected a name of 1 to 32/],
  ['no address', '[receivers.a]\nkind = "slack"', /receivers\.a: expected the key url or url_file/],
  ['two addresses', `${CHAT}url_file = "/x"`, /receivers\.chat\.url: expected not both url and url_file/],
  [
    'a key of another kind',
    `${CHAT}secret = "x"`,
    /receivers\.chat\.secret: expected a key that the kind slack has/,
  ],
  ['no chat', '[receivers.a]\nkind = "telegram"\nurl = "https://a"', /expected the key chat_id/],
  ['no recipient', MAIL.replace('"ops@example.org"', ''), /mail\.to: expected 1 to 50 mail addresses/],
  [
    'a wrong sender',
    MAIL.replace('Platform <p@example.org>', 'Nobody <p>'),
    /mail\.from: expected a mail address/,
  ],
  [
    'a webhook without a secret',
    '[receivers.a]\nkind = "webhook"\nurl = "https://a"',
    /the key secret or secret_file/,
  ],
  [
    'a webhook with another secret',
    '[receivers.a]\nkind = "webhook"\nurl = "https://a"\nsecret = "canary"',
    /receivers\.a\.secret: expected whsec_ and 24 to 64 bytes/,
  ],
  [
    'an address that is none',
    CHAT.replace('https://hooks/', ''),
    /chat\.url: expected an http:\/\/ or https/,
  ],
  [
    'an unknown receiver',
    route('').replace('["chat"]', '["chats"]'),
    /toml:5: alerts\.routes\.1\.receivers: .*did you mean chat/,
  ],
  [
    'an unknown receiver of a later route',
    `${route('')}[[alerts.routes]]\nreceivers = ["b"]`,
    /toml:7: alerts\.routes\.2\.receivers/,
  ],
  [
    'an unknown receiver by default',
    `${CHAT}[alerts]\ndefault_receivers = ["b"]`,
    /alerts\.default_receivers: expected names of receivers \(one of chat\)/,
  ],
  ['the robot without one', route('').replace('["chat"]', '["robot"]'), /alerts\.routes\.1\.receivers/],
  ['no receivers', `${CHAT}[[alerts.routes]]\nname = "a"`, /alerts\.routes\.1: expected the key receivers/],
  ['an unknown key', route('repeat = "4h"'), /alerts\.routes\.1\.repeat: expected a known key/],
  [
    'an unknown field',
    route('match = { host = "a" }'),
    /alerts\.routes\.1\.match\.host: expected a known key/,
  ],
  ['an unknown severity', route('min_severity = "BAD"'), /1\.min_severity: expected one of CRITICAL/],
  ['a wrong duration', route('repeat_every = "4 hours"'), /1\.repeat_every: expected a duration/],
  ['a wrong step', route('escalate = [{ after = "1h" }]'), /1\.escalate\.1: expected the key receivers/],
  [
    'an unknown receiver of a step',
    route('escalate = [{ after = "1h", receivers = ["b"] }]'),
    /1\.escalate: expected names/,
  ],
  [
    'wrong hours',
    route(`hours = { ${HOURS.replace('08:00', '8')} }`),
    /1\.hours\.from: expected a time of the day/,
  ],
  [
    'equal hours',
    route(`hours = { ${HOURS.replace('20:00', '08:00')} }`),
    /1\.hours\.to: expected another time/,
  ],
  [
    'an unknown zone',
    route(`hours = { ${HOURS.replace('Berlin', 'Bonn')} }`),
    /1\.hours\.time_zone: expected the IANA name/,
  ],
  [
    'unknown days',
    route(`hours = { days = ["monday"], ${HOURS} }`),
    /1\.hours\.days: expected a list of days/,
  ],
  [
    'two routes of one name',
    `${route('name = "a"')}\n[[alerts.routes]]\nname = "a"\nreceivers = ["chat"]`,
    /alerts\.routes\.2\.name: expected a name that no other route has/,
  ],
  [
    'a table instead of a list',
    '[alerts.routes]\nreceivers = ["a"]',
    /alerts\.routes: expected up to 100 tables/,
  ],
] as const)
  test(`${what} is an error that names its place, and no secret`, () => {
    using w = configWorld()
    assert.throws(
      () => w.load(toml),
      (error: Error) => message.test(error.message) && !error.message.includes('canary'),
    )
  })

test('an address and a secret may be in private files of their own', () => {
  using w = configWorld()
  const url = w.write('url', 'https://pager/hook\n')
  const secret = w.write('secret', `${WEBHOOK_SECRET}\n`)
  const toml = `[receivers.pager]\nkind = "webhook"\nurl_file = "${url}"\nsecret_file = "${secret}"`
  const [pager] = w.load(toml).config.receivers
  assert.ok(pager)
  const secrets = readReceiverSecrets(pager)
  assert.deepEqual([secrets.url.reveal(), secrets.secret?.reveal()], ['https://pager/hook', WEBHOOK_SECRET])
  w.write('secret', 'canary')
  assert.throws(() => readReceiverSecrets(pager), /secret_file: expected whsec_.*another text/)
  w.write('secret', WEBHOOK_SECRET, 0o644)
  assert.throws(() => readReceiverSecrets(pager), /secret_file: expected mode 600/)
})
