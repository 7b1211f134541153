import assert from 'node:assert/strict'
import { mock, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { fstatSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { silentLogger } from '../../kernel/logger.ts'
import { isJournal } from '../../config/journal.ts'
import { connectServiceManager, journalError } from './service-manager.ts'

const SOCKET = { NOTIFY_SOCKET: '/run/systemd/notify' }

function recorded(environment: Readonly<Record<string, string>>) {
  const sent: string[] = []
  const manager = connectServiceManager(environment, silentLogger, async (state) => {
    sent.push(...state)
  })
  return { sent, manager }
}

test('systemd learns when the program is ready and when it stops', () => {
  const { sent, manager } = recorded(SOCKET)
  manager.ready()
  manager.stopping()
  assert.deepEqual(sent, ['READY=1', 'STOPPING=1'])
})

test('nothing is reported without a service manager', () => {
  const { sent, manager } = recorded({ WATCHDOG_USEC: '30000000' })
  manager.ready()
  manager.stopping()
  manager[Symbol.dispose]()
  assert.deepEqual(sent, [])
})

test('the watchdog hears of a ready program three times in its time, until the end', async () => {
  mock.timers.enable({ apis: ['setInterval'] })
  try {
    const { sent, manager } = recorded({ ...SOCKET, WATCHDOG_USEC: '30000000' })
    mock.timers.tick(30_000)
    assert.deepEqual(sent, [])
    manager.ready()
    for (const _ of [1, 2, 3]) {
      mock.timers.tick(10_000)
      await setImmediate()
    }
    assert.deepEqual(sent, ['READY=1', 'WATCHDOG=1', 'WATCHDOG=1', 'WATCHDOG=1'])
    manager[Symbol.dispose]()
    mock.timers.tick(30_000)
    assert.equal(sent.length, 4)
  } finally {
    mock.timers.reset()
  }
})

test('a report to the watchdog is left out while the one before it is running', async () => {
  mock.timers.enable({ apis: ['setInterval'] })
  try {
    const running: PromiseWithResolvers<void>[] = []
    const notify = async (state: readonly string[]) => {
      if (state[0] !== 'WATCHDOG=1') return
      running.push(Promise.withResolvers())
      await running.at(-1)?.promise
    }
    const manager = connectServiceManager({ ...SOCKET, WATCHDOG_USEC: '30000000' }, silentLogger, notify)
    manager.ready()
    mock.timers.tick(30_000)
    assert.equal(running.length, 1)
    running[0]?.resolve()
    await setImmediate()
    mock.timers.tick(10_000)
    assert.equal(running.length, 2)
    manager[Symbol.dispose]()
  } finally {
    mock.timers.reset()
  }
})

test('a report that fails is logged, and stops nothing', async () => {
  const warned = Promise.withResolvers<unknown>()
  const logger = { ...silentLogger, warn: (fields: object) => warned.resolve(fields) }
  const manager = connectServiceManager(SOCKET, logger, () => Promise.reject(new Error('not there')))
  manager.ready()
  assert.deepEqual(await warned.promise, { state: ['READY=1'], error: 'not there' })
})

test('only the output whose device and inode the variable has is the journal', async () => {
  await using file = await open(import.meta.filename)
  const { dev, ino } = fstatSync(file.fd)
  assert.equal(isJournal({ JOURNAL_STREAM: `${dev}:${ino}` }, file.fd), true)
  assert.equal(isJournal({ JOURNAL_STREAM: `${dev}:${ino}0` }, file.fd), false)
  assert.equal(isJournal({}, file.fd), false)
  assert.equal(isJournal({ JOURNAL_STREAM: '' }, 1_000_000), false)
  assert.equal(isJournal({ JOURNAL_STREAM: '1:1' }, 1_000_000), false)
})

test('every line of an error has the priority', () => {
  assert.equal(journalError('one\ntwo\n'), '<3>one\n<3>two\n')
})
