import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ADMIN, caller, commandWorld } from '../../../test/support/commands.ts'
import { eventually } from '../../../test/support/eventually.ts'
import { onEveryDialect } from '../../../test/support/store.ts'
import { fakeWaitingClock } from '../../../test/support/waiting-clock.ts'
import { HOUR, MINUTE, SECOND } from '../../kernel/time.ts'
import { interruptUnfinished } from './store.ts'
import { FLUSH_EVERY_MS, KILL_AFTER_MS } from './execution-run.ts'
import type { ExecutionStatus } from './model.ts'
import { LEASE_MS } from './lease-watch.ts'

type World = Awaited<ReturnType<typeof commandWorld>>

const EVENTS = 'command.requested queued,command.finished succeeded'
const SLOW = { timeoutMs: 120_000 }
const request = (params = {}) => ({ params, reason: 'r' })

async function becomes(w: World, id: string, status: ExecutionStatus) {
  return eventually(
    `the execution is ${status}`,
    async () => {
      const execution = await w.service.execution(id, ADMIN)
      return execution.status === status ? execution : undefined
    },
    SLOW,
  )
}

async function started(w: World, count = 1) {
  await eventually(`${count} programs run`, () => w.started.length >= count, SLOW)
  const program = w.started[count - 1]
  assert.ok(program)
  return program
}

/** When the lease of the worker expires. */
async function leaseOf({ store }: World, id: string): Promise<unknown> {
  const query = store.read.db.selectFrom('command_executions').select('due_at').where('id', '=', id)
  return (await query.executeTakeFirstOrThrow()).due_at
}

const ONLY_SERVICE_DECIDES = Object.fromEntries(
  ['decided', 'secretive'].map((id) => [id, { roles: ['admin'], approvers: ['service'] } as const]),
)

onEveryDialect('the worker of commands', (dialect) => {
  test('a program gets its arguments, its environment and nothing else; its end is recorded', async () => {
    await using w = await commandWorld(dialect)
    w.startWorker()
    const { id } = await w.commands.request('restart', request({ unit: 'a; b' }), ADMIN)
    const program = await started(w)
    assert.deepEqual(program.run, ['systemctl', 'restart', 'a; b'])
    const { TRACEPARENT, ...environment } = program.environment
    assert.deepEqual(environment, { PATH: '/bin' })
    assert.match(String(TRACEPARENT), /^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/)
    assert.equal(program.executionId, id)
    program.onOutput('stdout', Buffer.from('restarted'))
    program.end({ exitCode: 0, signal: null })
    const { status, exitCode, output, host, containment, startedAt, finishedAt } = await becomes(
      w,
      id,
      'succeeded',
    )
    assert.deepEqual(
      { status, exitCode, output, host, containment },
      { status: 'succeeded', exitCode: 0, output: 'restarted', host: 'one', containment: 'pid_namespace' },
    )
    assert.ok(startedAt !== null && finishedAt !== null)
    await eventually(
      'its events',
      () =>
        w.events.map(({ type, data }) => `${type} ${'status' in data ? data.status : ''}`).join() === EVENTS,
      SLOW,
    )
  })

  test('the rights to run a command and to approve it are judged again at the start', async () => {
    const user = { roles: ['admin'], enabled: true } as const
    const lost: readonly [string, (world: World) => unknown][] = [
      ['requester disabled', ({ accounts }) => accounts.set('ann', { ...user, enabled: false })],
      ['approver disabled', ({ accounts }) => accounts.set('eve', { ...user, enabled: false })],
      ['approver deleted', ({ accounts }) => accounts.delete('eve')],
      ['approver without the role', ({ accounts }) => accounts.set('eve', { ...user, roles: ['devops'] })],
      ['approver without the rule', ({ commands }) => commands.setPolicy(ONLY_SERVICE_DECIDES, 'joe')],
    ]
    for (const [what, lose] of lost) {
      await using w = await commandWorld(dialect)
      for (const id of ['ann', 'eve']) w.accounts.set(id, user)
      const { id } = await w.commands.request('secretive', request({ key: 'hunter2' }), ADMIN)
      await w.commands.decide(id, 'approved', null, caller('eve', 'admin'))
      await lose(w)
      w.startWorker()
      const { statusReason, startedAt } = await becomes(w, id, 'cancelled')
      assert.deepEqual([statusReason, startedAt, w.started.length], ['no_longer_allowed', null, 0], what)
      const rows = await w.store.read.db.selectFrom('command_executions').select('secrets').execute()
      assert.deepEqual(rows, [{ secrets: null }])
    }
  })

  test('an approver with trusted headers that is no user is judged at the start by the roles of the approval', async () => {
    await using w = await commandWorld(dialect)
    const { id } = await w.commands.request('decided', request(), ADMIN)
    await w.commands.decide(id, 'approved', null, caller('tool', 'admin'))
    w.startWorker()
    await started(w)
    const other = await w.commands.request('decided', request(), ADMIN)
    await w.commands.decide(other.id, 'approved', null, caller('tool', 'admin'))
    await w.commands.setPolicy(ONLY_SERVICE_DECIDES, 'joe')
    w.started[0]?.end({ exitCode: 0, signal: null })
    await becomes(w, other.id, 'cancelled')
    assert.equal(w.started.length, 1)
  })

  test('an execution that no worker begins in time expires with an alert, and is not run later', async () => {
    await using w = await commandWorld(dialect)
    const late = await w.commands.request('restart', request(), ADMIN)
    w.clock.advance(HOUR - 1)
    assert.equal(await w.upkeep.endOverdue(10), 0)
    const claimed = await w.commands.request('parallel', request(), ADMIN)
    w.clock.advance(1)
    assert.equal(await w.upkeep.endOverdue(10), 1)
    assert.equal(await w.upkeep.endOverdue(10), 0)
    const { status, statusReason } = await w.service.execution(late.id, ADMIN)
    assert.deepEqual([status, statusReason], ['expired', 'not_started'])
    assert.deepEqual(w.alertLines(), [`command.not_started:${late.id} ERROR`])
    w.clock.advance(HOUR)
    w.startWorker()
    await becomes(w, claimed.id, 'expired')
    assert.equal(w.started.length, 0)
  })

  test('a clock that is set back does not prolong the time in which an execution begins', async () => {
    await using w = await commandWorld(dialect)
    await w.commands.request('restart', request(), ADMIN)
    w.clock.jump(-30 * SECOND)
    assert.equal(await w.upkeep.endOverdue(10), 0)
    w.clock.jump(-8 * HOUR)
    assert.equal(await w.upkeep.endOverdue(10), 1)
  })

  test('nothing that waited or ran in a backup begins, or runs again, in its copy', async () => {
    await using w = await commandWorld(dialect)
    const waiting = await w.commands.request('secretive', request({ key: 'hunter2' }), ADMIN)
    const queued = await w.commands.request('restart', request(), ADMIN)
    await w.store.write((tx) => interruptUnfinished(tx, 'interrupted', w.clock.now()))
    w.startWorker()
    const last = await w.commands.request('test.count', request(), ADMIN)
    await becomes(w, last.id, 'succeeded')
    for (const { id } of [waiting, queued]) await becomes(w, id, 'interrupted')
    assert.equal(w.started.length, 0)
    await assert.rejects(w.commands.decide(waiting.id, 'approved', null, caller('eve', 'admin')), {
      code: 'invalid_transition',
    })
  })

  test('a secret reaches the program by its environment, and is erased when it starts', async () => {
    await using w = await commandWorld(dialect)
    const { id } = await w.commands.request('secretive', request({ key: 'hunter2' }), ADMIN)
    await w.commands.decide(id, 'approved', null, caller('eve', 'admin'))
    w.startWorker()
    const program = await started(w)
    assert.deepEqual(program.run, ['login'])
    const { TRACEPARENT: _trace, ...environment } = program.environment
    assert.deepEqual(environment, { PATH: '/bin', PARAM_KEY: 'hunter2' })
    const rows = await w.store.read.db.selectFrom('command_executions').select('secrets').execute()
    assert.deepEqual(rows, [{ secrets: null }])
    program.onOutput('stdout', Buffer.from('key=hunt'))
    program.onOutput('stdout', Buffer.from('er2'))
    program.end({ exitCode: 0, signal: null })
    assert.equal((await becomes(w, id, 'succeeded')).output, 'key=**redacted**')
  })

  test('a built-in command runs in the worker; an error of it is a failure that says why', async () => {
    await using w = await commandWorld(dialect)
    w.startWorker()
    const good = await w.commands.request('test.count', request({ to: 7 }), ADMIN)
    const { output, exitCode } = await becomes(w, good.id, 'succeeded')
    assert.deepEqual([output, exitCode, w.calls[0]?.actor], ['Counted to 7.\n', 0, 'ann'])
    const bad = await w.commands.request('test.count', request({ to: 0 }), ADMIN)
    assert.equal(
      (await becomes(w, bad.id, 'failed')).output,
      'Counted to 0.\n[platform] There is nothing to count.\n',
    )
  })

  test('an exit code other than 0 is a failure', async () => {
    await using w = await commandWorld(dialect)
    w.startWorker()
    const { id } = await w.commands.request('restart', request(), ADMIN)
    ;(await started(w)).end({ exitCode: 3, signal: null })
    assert.equal((await becomes(w, id, 'failed')).exitCode, 3)
  })

  test('no more of a command run at the same time than it allows, in all workers together', async () => {
    await using w = await commandWorld(dialect)
    const ids: string[] = []
    for (let each = 0; each < 5; each++) ids.push((await w.commands.request('parallel', request(), ADMIN)).id)
    w.startWorker('one')
    w.startWorker('two')
    await started(w, 3)
    const running = async () =>
      (await w.service.executions({ status: 'running' }, { limit: 9 }, ADMIN)).items.length
    assert.deepEqual([w.started.length, await running()], [3, 3])
    w.started[0]?.end({ exitCode: 0, signal: null })
    await eventually('the fourth runs', () => w.started.length === 4 || (w.clock.advance(500), false), SLOW)
    assert.equal(await running(), 3)
    const executions = w.started.map(({ executionId }) => executionId)
    assert.equal(new Set(executions).size, executions.length, 'none runs twice')
  })

  test('a timeout ends a program with SIGTERM, and after 10 s with SIGKILL', async () => {
    await using w = await commandWorld(dialect)
    w.startWorker()
    const { id } = await w.commands.request('stubborn', request(), ADMIN)
    const program = await started(w)
    await w.clock.pass(MINUTE)
    assert.deepEqual([program.terminate.aborted, program.kill.aborted], [true, false])
    await w.clock.pass(KILL_AFTER_MS)
    const { signal, output } = await becomes(w, id, 'timed_out')
    assert.deepEqual([signal, output], ['SIGKILL', '[platform] It was ended after its timeout of 60 s.\n'])
  })

  test('a running execution is cancelled from another process', async () => {
    await using w = await commandWorld(dialect)
    w.startWorker()
    const { id } = await w.commands.request('restart', request(), ADMIN)
    await started(w)
    assert.equal((await w.commands.cancel(id, ADMIN)).status, 'running')
    await w.clock.pass(FLUSH_EVERY_MS)
    const { signal, cancelledBy } = await becomes(w, id, 'cancelled')
    assert.deepEqual([signal, cancelledBy], ['SIGTERM', 'ann'])
  })

  test('the output is stored while the program runs', async () => {
    await using w = await commandWorld(dialect)
    w.startWorker()
    const { id } = await w.commands.request('restart', request(), ADMIN)
    ;(await started(w)).onOutput('stderr', Buffer.from('half way'))
    await w.clock.pass(FLUSH_EVERY_MS)
    await eventually(
      'the output is stored',
      async () => (await w.service.execution(id, ADMIN)).output === 'half way',
      SLOW,
    )
  })

  test('a worker that stops ends what runs as incomplete, with an alert', async () => {
    await using w = await commandWorld(dialect)
    const { worker } = w.startWorker()
    const { id } = await w.commands.request('restart', request(), ADMIN)
    await started(w)
    await worker.stop()
    const { output } = await becomes(w, id, 'incomplete')
    assert.match(output, /its worker was stopped/)
    await eventually('its alert', () => w.alertLines().join() === `command.incomplete:${id} ERROR`, SLOW)
  })

  test('a run whose worker does not renew its lease is incomplete, and is not run again', async () => {
    await using w = await commandWorld(dialect)
    w.startWorker()
    const { id } = await w.commands.request('restart', request(), ADMIN)
    await started(w)
    // The clock of another process goes on, as if the worker was suspended.
    const clock = fakeWaitingClock()
    const upkeep = w.upkeepBy(clock)
    assert.equal(await upkeep.endAbandoned(), 0)
    clock.advance(LEASE_MS - 1)
    assert.equal(await upkeep.endAbandoned(), 0)
    clock.advance(1)
    assert.equal(await upkeep.endAbandoned(), 1)
    assert.equal(await upkeep.endAbandoned(), 0)
    assert.deepEqual(w.alertLines(), [`command.incomplete:${id} ERROR`])
    // The worker notices at its next renewal, and ends the program; its outcome changes nothing.
    await w.clock.pass(LEASE_MS / 3)
    await eventually('the program is ended', () => w.started[0]?.terminate.aborted, SLOW)
    assert.equal((await w.service.execution(id, ADMIN)).status, 'incomplete')
    assert.equal(w.started.length, 1)
  })

  test('a run of a live worker goes on, whatever the clock of another process says', async () => {
    for (const ahead of [HOUR, -HOUR]) {
      await using w = await commandWorld(dialect)
      w.startWorker()
      const { id } = await w.commands.request('restart', request(), ADMIN)
      await started(w)
      const clock = fakeWaitingClock()
      const upkeep = w.upkeepBy({ ...clock, now: () => clock.now() + ahead })
      for (let round = 0; round < 6; round++) {
        assert.equal(await upkeep.endAbandoned(), 0)
        const before = await leaseOf(w, id)
        await w.clock.pass(LEASE_MS / 3)
        await eventually('a renewal', async () => (await leaseOf(w, id)) !== before, SLOW)
        clock.advance(LEASE_MS / 3)
      }
    }
  })

  test('an expired lease of a dead worker ends the run soon, also for a process that has just started', async () => {
    await using w = await commandWorld(dialect)
    w.startWorker()
    const { id } = await w.commands.request('restart', request(), ADMIN)
    await started(w)
    const clock = fakeWaitingClock()
    const upkeep = w.upkeepBy({ ...clock, now: () => clock.now() + HOUR })
    assert.equal(await upkeep.endAbandoned(), 0)
    clock.advance(LEASE_MS / 2)
    assert.equal(await upkeep.endAbandoned(), 1)
    assert.equal((await w.service.execution(id, ADMIN)).status, 'incomplete')
  })

  test('processes of an execution that is over are killed, others are left alone', async () => {
    await using w = await commandWorld(dialect)
    const { programs, upkeep } = w.startWorker()
    const over = await w.commands.request('parallel', request(), ADMIN)
    ;(await started(w)).end({ exitCode: 0, signal: null })
    await becomes(w, over.id, 'succeeded')
    const running = await w.commands.request('restart', request(), ADMIN)
    await started(w, 2)
    programs.leftovers = [over.id, running.id, 'an execution of another platform']
    await upkeep.killLeftovers()
    assert.deepEqual(programs.killed, [], 'the kernel has ended what was in a namespace')
    programs.containedBy = 'process_scan'
    await upkeep.killLeftovers()
    assert.deepEqual(programs.killed, [over.id])
  })
})
