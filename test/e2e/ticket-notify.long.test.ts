import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, test } from 'node:test'
import { eventually } from '../support/eventually.ts'
import { notifierWorld, type NotifierRun, type NotifierWorld } from '../support/notifier.ts'
import { ROBOT_TOKEN } from '../support/robots.ts'
import { SMTP_PASSWORD } from '../support/smtp.ts'
import { ticket, TICKET_API_FAULTS } from '../support/ticket-api.ts'

const PLATFORM = [
  process.execPath,
  join(import.meta.dirname, '../../bin/platform.ts'),
  'ticket-notify',
] as const

/** A module that sets the clock of a process forward; the time since the boot stays correct. */
const CLOCK_TWO_HOURS_AHEAD = `data:text/javascript,${encodeURIComponent(`
  const now = () => new Real().getTime() + 7_200_000
  const Real = Date
  globalThis.Date = class extends Real {
    static now = now
    constructor(...given) {
      super(...(given.length === 0 ? [now()] : given))
    }
  }
`)}`

const PATIENCE = { timeoutMs: 120_000 }
const suite = { concurrency: 2 }

// programs/ticket-notify/api.test.ts has all failed fetches; these show what the round does then.
const FETCH_FAULTS = Object.fromEntries(
  ['resets the connection', 'answers with a page', 'answers half', 'answers 503 with a list'].map((fault) => [
    fault,
    TICKET_API_FAULTS[fault] ?? assert.fail(fault),
  ]),
)

/** Everything below a directory: names, content and times of change. */
function contentOf(directory: string): Record<string, string> {
  const names = readdirSync(directory, { recursive: true, encoding: 'utf8' })
  const describe = (name: string) => {
    const stat = statSync(join(directory, name))
    const content = stat.isFile() ? readFileSync(join(directory, name), 'utf8') : ''
    return `${stat.mode} ${stat.mtimeMs} ${content}`
  }
  return Object.fromEntries(names.sort().map((name) => [name, describe(name)]))
}

const sentBy = ({ robots, smtp }: NotifierWorld) => [robots.requests.length, smtp.mails.length]

/** A world after its first round. */
async function knownWorld(channels: readonly ('mail' | 'robot')[] = ['mail', 'robot']) {
  const w = await notifierWorld()
  w.configure(channels)
  w.api.tickets = [ticket('known')]
  assert.equal((await w.run()).code, 0)
  return w
}

function assertNoSecrets({ stdout, stderr }: NotifierRun): void {
  for (const word of [
    SMTP_PASSWORD,
    encodeURIComponent(SMTP_PASSWORD),
    ROBOT_TOKEN,
    'generic-canary-secret',
  ]) {
    assert.ok(!(stdout + stderr).includes(word), `${word} is in the output`)
  }
}

const WRONG_USAGES: readonly { args: readonly string[]; env: Record<string, string>; names: RegExp }[] = [
  { args: ['--limit', '0'], env: {}, names: /limit must be a positive integer/ },
  { args: ['--limit', '-3'], env: {}, names: /limit must be a positive integer/ },
  { args: ['--limt', '3'], env: {}, names: /--limt/ },
  { args: [], env: { TICKET_NOTIFY_MAX_NOTIFY: 'many' }, names: /TICKET_NOTIFY_MAX_NOTIFY/ },
]

describe('the notifier, as a process', suite, () => {
  test('a new ticket and a change after a first round are sent by mail and robot, once, without a secret in the log', async () => {
    await using w = await knownWorld()
    assert.deepEqual(sentBy(w), [0, 0])
    assert.equal(statSync(w.stateFile).mode & 0o777, 0o600)
    w.api.tickets = [ticket('fresh'), ticket('known', { status: 'resolved', level: 'info' })]
    const run = await w.run()
    assert.equal(run.code, 0)
    assert.deepEqual(
      [run.done?.['sent'], run.done?.['new'], run.done?.['changed'], run.done?.['fetched']],
      [2, 1, 1, 2],
    )
    assert.deepEqual(Object.keys(run.done?.['suppressed'] as object), [
      'too_old',
      'too_old_transition',
      'level',
      'test',
      'budget',
    ])
    assert.deepEqual(
      w.robots.shown.map((text) => text.split('\n')[0]),
      ['[CRITICAL] New ticket: Ticket fresh', '[INFO] open → resolved: Ticket known'],
    )
    // The second mail is throttled: one in 900 s.
    assert.equal(w.smtp.mails.length, 1)
    assert.ok(w.smtp.mails[0]?.encrypted)
    assert.equal((await w.run()).done?.['sent'], 0)
    assert.deepEqual(sentBy(w), [2, 1])
    for (const { ts, level, module, message } of run.lines) {
      assert.ok(!Number.isNaN(Date.parse(ts)) && level && message)
      assert.equal(module, 'ticket-notify')
    }
    assertNoSecrets(run)
    assert.deepEqual(readdirSync(dirname(w.stateFile)).sort(), [
      'ticket-notify-state.json',
      'ticket-notify-state.json.memory',
    ])
  })

  test('a dry run prints what would be sent, and changes and sends nothing', async () => {
    await using w = await knownWorld()
    w.api.tickets = [ticket('fresh'), ticket('low', { level: 'low' }), ticket('known', { status: 'closed' })]
    writeFileSync(`${w.stateFile}.tmp`, 'another round writes here')
    const before = contentOf(w.directory)
    const run = await w.run(['--dry-run'])
    assert.equal(run.code, 0)
    const printed = run.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, string>)
    assert.deepEqual(
      printed.map(({ category, title }) => [category, title]),
      [
        ['ticket', '[CRITICAL] New ticket: Ticket fresh'],
        ['ticket', '[CRITICAL] open → closed: Ticket known'],
      ],
    )
    assert.deepEqual(contentOf(w.directory), before)
    assert.deepEqual(sentBy(w), [0, 0])
  })

  test('a dry run creates no directory, and changes no unreadable state', async () => {
    await using w = await notifierWorld()
    assert.equal((await w.run(['--dry-run'])).code, 0)
    assert.ok(!existsSync(dirname(w.stateFile)))
    mkdirSync(dirname(w.stateFile))
    writeFileSync(w.stateFile, 'rubbish')
    const before = contentOf(w.directory)
    const run = await w.run(['--dry-run'])
    assert.deepEqual([run.code, run.stdout, w.api.alerts], [0, '', []])
    assert.deepEqual(contentOf(w.directory), before)
  })

  test('--seed-only writes only the snapshot, and sends nothing', async () => {
    await using w = await knownWorld()
    w.api.tickets = [ticket('fresh'), ticket('known', { status: 'closed' })]
    const run = await w.run(['--seed-only'])
    assert.deepEqual([run.code, run.stdout], [0, ''])
    assert.deepEqual([w.state()['fresh']?.status, w.state()['known']?.status], ['open', 'closed'])
    assert.deepEqual(readdirSync(dirname(w.stateFile)), ['ticket-notify-state.json'])
    await w.run()
    assert.deepEqual(sentBy(w), [0, 0])
  })

  test('a self-test uses both channels, is not throttled, and needs neither platform nor state', async () => {
    await using w = await notifierWorld()
    w.configure(['mail'])
    for (let n = 0; n < 2; n++) assert.equal((await w.run(['--self-test'])).code, 0)
    assert.ok(!existsSync(dirname(w.stateFile)), 'it does not throttle mail of tickets')
    w.configure(['mail', 'robot'])
    assert.equal((await w.run(['--self-test'])).code, 0)
    assert.deepEqual(sentBy(w), [1, 3])
    assert.equal(w.api.requests.length, 0)
    assert.ok(!existsSync(w.stateFile))
  })

  test('a self-test without working mail ends with 1, also with a working robot', async () => {
    await using w = await notifierWorld()
    w.configure(['robot'])
    const unconfigured = await w.run(['--self-test'])
    assert.deepEqual([unconfigured.code, w.robots.shown.length], [1, 1])
    w.configure(['mail', 'robot'])
    w.smtp.fail('rcpt', 550, 'unknown')
    assert.equal((await w.run(['--self-test'])).code, 1)
  })

  for (const [fault, behaviour] of Object.entries(FETCH_FAULTS)) {
    test(`a platform that ${fault}: the round is skipped, nothing is persisted, exit code 1`, async () => {
      await using w = await knownWorld()
      const before = contentOf(dirname(w.stateFile))
      w.api.behave(behaviour)
      const run = await w.run()
      assert.equal(run.code, 1)
      assert.match(run.lines[0]?.message ?? '', /platform unreachable, round skipped/)
      assert.deepEqual(contentOf(dirname(w.stateFile)), before)
      assert.deepEqual(sentBy(w), [0, 0])
    })
  }

  test('a failed fetch does not change an unreadable state', async () => {
    await using w = await notifierWorld()
    mkdirSync(dirname(w.stateFile))
    writeFileSync(w.stateFile, 'rubbish')
    const before = contentOf(dirname(w.stateFile))
    assert.equal((await w.run(['--api', 'http://127.0.0.1:1'])).code, 1)
    assert.deepEqual(contentOf(dirname(w.stateFile)), before)
  })

  test('tickets with missing fields do not stop the round', async () => {
    await using w = await knownWorld()
    w.api.tickets = [null, {}, { id: 'bare' }, { id: 'odd', level: 'high', title: 7 }, ticket('fresh')]
    const run = await w.run()
    assert.deepEqual([run.code, run.done?.['malformed'], run.done?.['sent']], [0, 2, 2])
  })

  test('when both channels fail the round ends with 0, and the next one tries again', async () => {
    await using w = await knownWorld()
    w.api.tickets = [ticket('fresh')]
    w.robots.behave((response) => void response.writeHead(500).end())
    w.smtp.fail('mail')
    const failed = await w.run()
    assert.deepEqual([failed.code, failed.done?.['failed']], [0, 1])
    assert.equal(w.state()['fresh'], undefined)
    w.robots.behave(undefined)
    assert.equal((await w.run()).done?.['sent'], 1)
    assertNoSecrets(failed)
  })

  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    test(`${signal} during a hanging send saves what was sent, and ends the round soon`, async () => {
      await using w = await knownWorld(['robot'])
      w.api.tickets = [ticket('second', { updated_at: '2999-01-01T00:00:00Z' }), ticket('first')]
      let answered = 0
      w.robots.behave((response) => {
        // Only the first is answered.
        if (answered++ === 0) response.writeHead(204).end()
      })
      const { child, ended } = w.start()
      await eventually('the second is on the wire', () => w.robots.requests.length === 2, PATIENCE)
      child.kill(signal)
      const run = await ended
      assert.deepEqual([run.code, run.done?.['interrupted']], [0, true])
      // The signal ended it, not its own time limit.
      assert.match(JSON.stringify(run.lines), /"robot":"interrupted"/)
      assert.deepEqual(Object.keys(w.state()).sort(), ['first', 'known'])
      w.robots.behave(undefined)
      assert.equal((await w.run()).done?.['sent'], 1)
      assert.match(w.robots.shown[0] ?? '', /Ticket: second/)
    })
  }

  test('closing the pipes of the log does not end the round', async () => {
    for (const command of [undefined, PLATFORM]) {
      await using w = await knownWorld(['robot'])
      w.api.tickets = ['a', 'b', 'c'].map((id) => ticket(id))
      const { child, ended } = w.start([], command && { command })
      child.stdout?.destroy()
      child.stderr?.destroy()
      assert.equal((await ended).code, 0)
      assert.deepEqual(Object.keys(w.state()).sort(), ['a', 'b', 'c', 'known'])
    }
  })

  test('a signal during a hanging fetch ends the round without a change', async () => {
    await using w = await knownWorld()
    const before = contentOf(dirname(w.stateFile))
    w.api.behave(() => {})
    const { child, ended } = w.start()
    await eventually('the platform is asked', () => w.api.requests.length === 2, PATIENCE)
    child.kill('SIGTERM')
    assert.equal((await ended).code, 0)
    assert.deepEqual(contentOf(dirname(w.stateFile)), before)
  })

  test('a second round at the same time does nothing and ends with 0', async () => {
    await using w = await knownWorld()
    w.api.behave(() => {})
    const { child, ended } = w.start()
    await eventually('the platform is asked', () => w.api.requests.length === 2, PATIENCE)
    const second = await w.run()
    assert.deepEqual([second.code, second.lines.length], [0, 1])
    assert.match(second.lines[0]?.message ?? '', /another round is running/)
    assert.equal(w.api.requests.length, 2)
    child.kill('SIGKILL')
    await ended
    w.api.behave(undefined)
    assert.equal((await w.run()).code, 0, 'the lock of a killed round is taken over')
  })

  test('a state that cannot be saved: exit code 1, and nothing was sent', async () => {
    await using w = await knownWorld()
    w.api.tickets = [ticket('fresh')]
    mkdirSync(`${w.stateFile}.tmp`)
    const run = await w.run()
    assert.equal(run.code, 1)
    assert.match(run.lines.at(-1)?.message ?? '', /state could not be saved/)
    assert.deepEqual(sentBy(w), [0, 0])
  })

  for (const place of ['file/state.json', '/proc/absent/state.json', '/proc/state.json']) {
    test(`a state file that cannot be created at ${place}: exit code 1`, async () => {
      await using w = await notifierWorld()
      writeFileSync(join(w.directory, 'file'), '')
      const run = await w.run(['--state', place])
      assert.deepEqual([run.code, run.lines.length], [1, 1])
      assert.match(run.lines[0]?.message ?? '', /nothing can be written beside the state file/)
    })
  }

  for (const { args, env, names } of WRONG_USAGES) {
    test(`${JSON.stringify({ args, ...env })} is exit code 2 in one line, as a program and as a command of the platform`, async () => {
      await using w = await notifierWorld()
      for (const command of [undefined, PLATFORM]) {
        const run = await w.run(args, { env, ...(command && { command }) })
        assert.deepEqual([run.code, run.lines.length, run.lines[0]?.level], [2, 1, 'ERROR'])
        assert.match(run.lines[0]?.message ?? '', names)
      }
      assert.equal(w.api.requests.length, 0)
    })
  }

  test('platform ticket-notify does the same with its own notification module', async () => {
    await using w = await knownWorld()
    w.api.tickets = [ticket('fresh')]
    const run = await w.run(['--limit', '7'], { command: PLATFORM })
    assert.deepEqual([run.code, run.done?.['sent']], [0, 1])
    assert.deepEqual(sentBy(w), [1, 1])
    assert.equal(w.api.requests.at(-1)?.url, '/tickets?limit=7')
    assert.match((await w.run(['--help'], { command: PLATFORM })).stdout, /--self-test/)
  })

  test('setting the clock forward does not shorten the 900 s between two mails', async () => {
    await using w = await knownWorld(['mail'])
    w.api.tickets = [ticket('one')]
    assert.equal((await w.run()).done?.['sent'], 1)
    const later = new Date(Date.now() + 7_200_000).toISOString()
    w.api.tickets = [ticket('two', { created_at: later, updated_at: later })]
    const run = await w.run([], { env: { NODE_OPTIONS: `--import=${CLOCK_TWO_HOURS_AHEAD}` } })
    assert.ok(Date.parse(run.done?.ts ?? '') > Date.now() + 3_600_000, 'its clock is ahead')
    assert.equal(run.done?.['undelivered'], 1, run.stderr)
    assert.equal(w.smtp.mails.length, 1)
  })
})

const UNREADABLE: Readonly<Record<string, (path: string) => void>> = {
  'cut off': (path) => writeFileSync(path, '{\n"known":{"status":"op'),
  'an array': (path) => writeFileSync(path, '[]'),
  'a pipe that no process writes to': (path) => void execFileSync('mkfifo', [path]),
  'a link to rubbish': (path) => {
    writeFileSync(`${path}.other`, 'rubbish')
    symlinkSync(`${path}.other`, path)
  },
}

const keptIn = (directory: string) => readdirSync(directory).filter((name) => name.includes('.corrupt-'))

describe('an unreadable state file', suite, () => {
  for (const [what, make] of Object.entries(UNREADABLE)) {
    test(`that is ${what} is kept, sends nothing, and is reported to the platform until it is read again`, async () => {
      await using w = await notifierWorld()
      w.configure(['mail', 'robot'])
      w.api.tickets = [ticket('known')]
      mkdirSync(dirname(w.stateFile))
      make(w.stateFile)
      const runs = [await w.run(), await w.run()]
      assert.deepEqual(
        runs.map(({ code }) => code),
        [0, 0],
      )
      assert.equal(w.state()['known']?.status, 'open')
      assert.equal(keptIn(dirname(w.stateFile)).length, 1)
      assert.deepEqual(sentBy(w), [0, 0])
      assert.ok(runs[0]?.lines.some(({ level, message }) => level === 'ERROR' && /unreadable/.test(message)))
      assert.deepEqual(
        w.api.alerts.map(({ alarm_id, level }) => [alarm_id, level]),
        [
          ['ticket-notify.state', 'HIGH'],
          ['ticket-notify.state', 'CLOSE'],
        ],
      )
    })
  }

  test('that cannot be replaced is not moved: exit code 1', async () => {
    await using w = await notifierWorld()
    mkdirSync(dirname(w.stateFile))
    writeFileSync(w.stateFile, 'rubbish')
    mkdirSync(`${w.stateFile}.tmp`)
    assert.equal((await w.run()).code, 1)
    assert.deepEqual([readFileSync(w.stateFile, 'utf8'), keptIn(dirname(w.stateFile))], ['rubbish', []])
  })
})

const WRONG_STATE_PATHS: Readonly<Record<string, (directory: string) => string>> = {
  'a directory': (directory) => directory,
  'a link to a directory': (directory) => {
    symlinkSync(directory, `${directory}.link`)
    return `${directory}.link`
  },
  'a device': () => '/dev/null',
}

for (const [what, make] of Object.entries(WRONG_STATE_PATHS)) {
  test(`a state path that is ${what} is exit code 1, and nothing is moved, written or requested`, async () => {
    await using w = await notifierWorld()
    const directory = join(w.directory, 'etc')
    mkdirSync(directory)
    const state = make(directory)
    const before = contentOf(w.directory)
    for (const args of [[], ['--dry-run'], ['--seed-only']]) {
      const run = await w.run([...args, '--state', state])
      assert.deepEqual([run.code, run.lines.length], [1, 1], run.stderr)
      assert.match(run.lines[0]?.message ?? '', /it is a (directory|device)/)
    }
    assert.deepEqual(contentOf(w.directory), before)
    assert.equal(w.api.requests.length, 0)
  })
}

test('a ticket whose id has line breaks forges no line of a mail or a robot message', async () => {
  await using w = await knownWorld()
  w.api.tickets = [ticket('x\r\nLevel: info\nTicket: y', { title: '' })]
  assert.equal((await w.run()).done?.['sent'], 1)
  const [shown = ''] = w.robots.shown
  assert.deepEqual(
    shown.split('\n').filter((line) => /^(Ticket|Level):/.test(line)),
    ['Ticket: x Level: info Ticket: y', 'Level: critical'],
  )
  const [textPart = ''] = (w.smtp.mails[0]?.source ?? '').split('text/html')
  assert.doesNotMatch(textPart, /^(Level: info|Ticket: y)\r?$/m)
})

test('a secrets file that others can read is refused, and the tickets are tried again', async () => {
  await using w = await knownWorld()
  w.api.tickets = [ticket('fresh')]
  chmodSync(join(w.directory, 'notify.env'), 0o644)
  const run = await w.run()
  assert.deepEqual([run.code, run.done?.['failed']], [0, 1])
  assertNoSecrets(run)
  chmodSync(join(w.directory, 'notify.env'), 0o600)
  assert.equal((await w.run()).done?.['sent'], 1)
})
