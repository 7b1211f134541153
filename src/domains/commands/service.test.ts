import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ADMIN, caller, commandWorld, DEVOPS } from '../../../test/support/commands.ts'
import { onEveryDialect } from '../../../test/support/store.ts'
import { ROLES, type Role } from '../../kernel/identity.ts'
import { HOUR, MINUTE } from '../../kernel/time.ts'
import { EXECUTION_STATUSES, type ExecutionStatus } from './model.ts'

const REASON = { params: {}, reason: 'The shop is slow.' }
const NO_REASON = { params: {}, reason: null }
const PAGE = { limit: 100 }
const OTHER_ADMIN = caller('eve', 'admin')

type World = Awaited<ReturnType<typeof commandWorld>>

/** An execution that was brought into a status. */
async function executionWith(world: World, status: ExecutionStatus) {
  const { id } = await world.commands.request('decided', REASON, ADMIN)
  await world.store.write(async ({ db }) => {
    await db.updateTable('command_executions').set({ status }).where('id', '=', id).execute()
  })
  return id
}

onEveryDialect('the requests for commands', (dialect) => {
  test('a command without a rule is for admins, and its request is queued with its event', async () => {
    await using w = await commandWorld(dialect)
    await assert.rejects(w.commands.request('restart', NO_REASON, DEVOPS), { code: 'forbidden' })
    const execution = await w.commands.request('restart', { params: { unit: 'db' }, reason: null }, ADMIN)
    assert.deepEqual([execution.status, execution.expiresAt], ['queued', w.clock.now() + HOUR])
    assert.deepEqual(await w.commands.execution(execution.id, ADMIN), execution)
    assert.deepEqual(w.events, [{ type: 'command.requested', subject: execution.id, data: execution }])
  })

  test('is told to the receivers of approvals, and so is its decision', async () => {
    await using w = await commandWorld(dialect)
    w.accounts.set(ADMIN.id, { name: 'Ann', roles: ['admin'], enabled: true })
    await w.commands.setPolicy({ secretive: { roles: ['admin'] } }, 'ann')
    const request = { params: { key: 'hunter2' }, reason: 'A new key' }
    const { id } = await w.commands.request('secretive', request, ADMIN)
    await w.commands.request('restart', NO_REASON, ADMIN)
    const url = `https://shop.example.org/console/executions/${id}`
    const [asked, ...others] = w.notices
    assert.deepEqual(others, [])
    assert.deepEqual(
      [asked?.receivers, asked?.key, asked?.url],
      [['approvers'], `command.requested:${id}`, url],
    )
    assert.equal(asked?.title, 'ann asks to run secretive')
    assert.match(asked?.text ?? '', /^Would run: login\nReason: A new key\nIt expires/)
    assert.doesNotMatch(JSON.stringify(w.notices), /hunter2/)
    await w.commands.decide(id, 'rejected', 'not today', caller('bo', 'admin'))
    const { key, title, text } = w.notices[1] ?? assert.fail('the decision is not told')
    assert.equal(key, `command.decided:${id}`)
    assert.equal(title, 'The request of Ann to run secretive was rejected by bo')
    assert.equal(text, 'Comment: not today')
  })

  test('what two people decide needs a reason, another person, and happens once', async () => {
    await using w = await commandWorld(dialect)
    await assert.rejects(w.commands.request('decided', NO_REASON, ADMIN), { code: 'validation_failed' })
    const { id, status, expiresAt } = await w.commands.request('decided', REASON, ADMIN)
    assert.deepEqual([status, expiresAt], ['awaiting_approval', w.clock.now() + HOUR])
    await assert.rejects(w.commands.decide(id, 'approved', null, ADMIN), { code: 'own_request' })
    await assert.rejects(w.commands.decide(id, 'approved', null, DEVOPS), { code: 'forbidden' })
    await assert.rejects(w.commands.cancel(id, ADMIN), { code: 'invalid_transition' })
    w.clock.advance(MINUTE)
    const approved = await w.commands.decide(id, 'approved', 'Go ahead.', OTHER_ADMIN)
    assert.deepEqual([approved.status, approved.expiresAt], ['queued', w.clock.now() + HOUR])
    assert.deepEqual(approved.approvals, [
      { at: w.clock.now(), by: 'eve', decision: 'approved', comment: 'Go ahead.', roles: ['admin'] },
    ])
    await assert.rejects(w.commands.decide(id, 'rejected', null, OTHER_ADMIN), { code: 'invalid_transition' })
    assert.deepEqual(
      w.events.map(({ type }) => type),
      ['command.requested', 'command.decided'],
    )
  })

  test('of two decisions at the same time one counts', async () => {
    await using w = await commandWorld(dialect)
    const { id } = await w.commands.request('decided', REASON, ADMIN)
    const decisions = await Promise.allSettled([
      w.store.write((tx) => w.service.decide(tx, id, 'approved', null, OTHER_ADMIN)),
      w.store.write((tx) => w.service.decide(tx, id, 'rejected', null, caller('joe', 'admin'))),
    ])
    assert.deepEqual(decisions.map(({ status }) => status).sort(), ['fulfilled', 'rejected'])
    assert.equal((await w.commands.execution(id, ADMIN)).approvals.length, 1)
  })

  test('a request is judged again when it is approved: it is cancelled if the requester is no longer allowed to run the command', async () => {
    const lost: readonly [string, (world: World) => unknown][] = [
      ['disabled', ({ accounts }) => accounts.set('ann', { roles: ['admin'], enabled: false })],
      ['deleted', ({ accounts }) => accounts.delete('ann')],
      ['without the role', ({ accounts }) => accounts.set('ann', { roles: ['auditor'], enabled: true })],
      ['without the rule', ({ commands }) => commands.setPolicy({ decided: { roles: ['service'] } }, 'eve')],
    ]
    for (const [what, lose] of lost) {
      await using w = await commandWorld(dialect)
      w.accounts.set('ann', { roles: ['admin'], enabled: true })
      const { id } = await w.commands.request('decided', REASON, ADMIN)
      await lose(w)
      const { status, statusReason, approvals } = await w.commands.decide(id, 'approved', null, OTHER_ADMIN)
      assert.deepEqual([status, statusReason, approvals], ['cancelled', 'no_longer_allowed', []], what)
      await assert.rejects(w.commands.decide(id, 'approved', null, OTHER_ADMIN), {
        code: 'invalid_transition',
      })
      assert.equal(w.events.at(-1)?.type, 'command.finished')
    }
  })

  test('a caller with trusted headers that is no user keeps the roles of its request', async () => {
    await using w = await commandWorld(dialect)
    const { id } = await w.commands.request('decided', REASON, caller('tool', 'admin'))
    assert.equal((await w.commands.decide(id, 'approved', null, OTHER_ADMIN)).status, 'queued')
    const other = await w.commands.request('decided', REASON, caller('tool', 'admin'))
    await w.commands.setPolicy({ decided: { roles: ['service'] } }, 'eve')
    assert.equal((await w.commands.decide(other.id, 'approved', null, OTHER_ADMIN)).status, 'cancelled')
  })

  test('a request without a decision expires, and cannot be approved then', async () => {
    await using w = await commandWorld(dialect)
    const { id } = await w.commands.request('decided', REASON, ADMIN)
    w.clock.advance(HOUR - 1)
    assert.equal(await w.upkeep.endExpired(10), 0)
    w.clock.advance(1)
    await assert.rejects(w.commands.decide(id, 'approved', null, OTHER_ADMIN), { code: 'invalid_transition' })
    assert.equal(await w.upkeep.endExpired(10), 1)
    assert.equal(await w.upkeep.endExpired(10), 0)
    assert.equal((await w.commands.execution(id, ADMIN)).status, 'expired')
    assert.deepEqual(
      w.events.map(({ type }) => type),
      ['command.requested', 'command.finished'],
    )
  })

  test('every status allows the decisions and the cancellation of the table, and no other', async () => {
    await using w = await commandWorld(dialect)
    for (const status of EXECUTION_STATUSES) {
      const outcome = async (change: (id: string) => Promise<unknown>) => {
        const id = await executionWith(w, status)
        return change(id).then(
          () => true,
          (error: { code?: string }) => (assert.equal(error.code, 'invalid_transition'), false),
        )
      }
      const waits = status === 'awaiting_approval'
      assert.equal(await outcome((id) => w.commands.decide(id, 'approved', null, OTHER_ADMIN)), waits, status)
      assert.equal(await outcome((id) => w.commands.decide(id, 'rejected', null, OTHER_ADMIN)), waits, status)
      const isActive = status === 'queued' || status === 'running'
      assert.equal(await outcome((id) => w.commands.cancel(id, ADMIN)), isActive, status)
    }
  })

  test('a queued execution is cancelled only by its requester and by users who may run it', async () => {
    await using w = await commandWorld(dialect)
    await w.commands.setPolicy({ restart: { roles: ['devops'] } }, 'ann')
    for (const [who, isAllowed] of [
      [caller('other', 'devops'), true],
      [caller('dev', 'auditor'), true],
      [ADMIN, false],
      [caller('other', 'auditor'), false],
    ] as const) {
      const { id } = await w.commands.request('restart', NO_REASON, DEVOPS)
      const cancel = w.commands.cancel(id, who)
      if (isAllowed)
        assert.deepEqual([(await cancel).status, (await cancel).cancelledBy], ['cancelled', who.id])
      else await assert.rejects(cancel, { code: 'forbidden' })
    }
  })

  test('a secret parameter is stored encrypted until the decision, and shown nowhere', async () => {
    await using w = await commandWorld(dialect)
    const secret = 'CANARY-hunter2'
    const request = { params: { key: secret }, reason: 'r' }
    const dump = async () =>
      JSON.stringify(await w.store.read.db.selectFrom('command_executions').selectAll().execute())
    const { id, params } = await w.commands.request('secretive', request, ADMIN)
    assert.deepEqual(params, { key: '**redacted**' })
    const sealed = await dump()
    assert.match(sealed, /"secrets":"[^"]+"/)
    assert.ok(!sealed.includes('CANARY') && !JSON.stringify(w.events).includes('CANARY'))
    await w.commands.decide(id, 'rejected', null, OTHER_ADMIN)
    assert.match(await dump(), /"secrets":null/)
  })

  test('a dry run requests nothing', async () => {
    await using w = await commandWorld(dialect)
    const request = { params: { unit: 'a b' }, reason: null }
    assert.deepEqual(await w.service.dryRun(w.store.read, 'restart', request, ADMIN), {
      wouldRun: ['systemctl', 'restart', 'a b'],
      approval: 'none',
      timeoutMs: 60_000,
    })
    const wrong = { params: { unit: 1 }, reason: null }
    await assert.rejects(w.service.dryRun(w.store.read, 'restart', wrong, ADMIN), {
      code: 'validation_failed',
    })
    await assert.rejects(w.service.dryRun(w.store.read, 'restart', request, DEVOPS), { code: 'forbidden' })
    assert.deepEqual((await w.commands.executions({}, PAGE, ADMIN)).items, [])
  })

  test('callers list the executions that the policy lets them read', async () => {
    await using w = await commandWorld(dialect)
    await w.commands.setPolicy(
      { restart: { roles: ['devops'] }, parallel: { roles: ['service'], approvers: ['devops'] } },
      'ann',
    )
    const made = [
      await w.commands.request('restart', NO_REASON, DEVOPS),
      await w.commands.request('parallel', NO_REASON, caller('srv', 'service')),
      await w.commands.request('test.count', NO_REASON, ADMIN),
    ]
    const [restart, parallel, count] = made.map(({ id }) => id)
    const listed = async (who: ReturnType<typeof caller>, filter = {}) =>
      (await w.commands.executions(filter, PAGE, who)).items.map(({ id }) => id)
    assert.deepEqual(await listed(ADMIN), [count, parallel, restart])
    assert.deepEqual(await listed(caller('x', 'auditor')), [count, parallel, restart])
    assert.deepEqual(await listed(caller('x', 'devops')), [parallel, restart])
    assert.deepEqual(await listed(caller('x', 'service')), [parallel])
    assert.deepEqual(await listed(caller('dev', 'service')), [parallel, restart])
    assert.deepEqual(await listed(ADMIN, { commandId: 'restart' }), [restart])
    assert.deepEqual(await listed(ADMIN, { requestedBy: 'srv', status: 'queued' }), [parallel])
    await assert.rejects(w.commands.execution(count ?? '', caller('x', 'devops')), { code: 'forbidden' })
    await assert.rejects(w.commands.execution('none', ADMIN), { code: 'execution_not_found' })
  })

  test('the policy takes effect at once, is remembered, and is replaced as a whole', async () => {
    await using w = await commandWorld(dialect)
    assert.deepEqual(await w.commands.policy(), { revision: 1, rules: {} })
    const first = { restart: { roles: ['devops'] } } as const
    assert.deepEqual(await w.commands.setPolicy(first, 'ann'), { revision: 2, rules: first })
    assert.equal((await w.commands.request('restart', NO_REASON, DEVOPS)).status, 'queued')
    await assert.rejects(w.commands.setPolicy({}, 'ann', [1]), { code: 'precondition_failed' })
    await assert.rejects(w.commands.setPolicy({ unknown: { roles: [] } }, 'ann'), {
      code: 'validation_failed',
    })
    await w.commands.setPolicy({ decided: { roles: [...ROLES], approval: 'none' } }, 'eve', [2])
    await assert.rejects(w.commands.request('restart', NO_REASON, DEVOPS), { code: 'forbidden' })
    assert.equal((await w.commands.request('decided', NO_REASON, DEVOPS)).status, 'queued')
    const { items } = await w.commands.policyHistory(PAGE)
    assert.deepEqual(
      items.map(({ revision, actor }) => [revision, actor]),
      [
        [3, 'eve'],
        [2, 'ann'],
      ],
    )
    const same = { decided: { roles: [...ROLES], approval: 'none' } } as const
    assert.equal((await w.commands.setPolicy(same, 'ann', [3])).revision, 3)
    const changes = w.events.filter(({ type }) => type === 'command.policy_changed')
    assert.deepEqual(
      changes.map(({ data }) => data),
      items.toReversed(),
    )
  })

  test('simultaneous changes of the policy get different revisions', async () => {
    await using w = await commandWorld(dialect)
    const change = (...roles: Role[]) =>
      w.store.write((tx) => w.service.setPolicy(tx, { restart: { roles } }, 'ann'))
    const policies = await Promise.all([change(), change('devops'), change('auditor')])
    assert.deepEqual(
      policies.map(({ revision }) => revision).sort((a, b) => a - b),
      [2, 3, 4],
    )
  })

  test('a list has the end of each output, and one execution has the whole', async () => {
    await using w = await commandWorld(dialect)
    const LISTED = 1_024
    const outputs = ['', 'short\n', 'é'.repeat(LISTED), `0${'é😀'.repeat(LISTED / 2)}`, 'x'.repeat(65_536)]
    for (const text of outputs) {
      const { id } = await w.commands.request('restart', NO_REASON, ADMIN)
      const row = { execution_id: id, text, total: text.length }
      await w.store.write(({ db }) => db.insertInto('command_outputs').values(row).execute())
      assert.equal((await w.commands.execution(id, ADMIN)).output, text)
    }
    const { items } = await w.commands.executions({}, PAGE, ADMIN)
    for (const [index, { output, outputTotal }] of items.toReversed().entries()) {
      const text = outputs[index] ?? ''
      assert.ok(output === [...text].slice(-LISTED).join(''), `${output.length} characters`)
      assert.equal(outputTotal, text.length)
    }
  })

  test('the catalogue lists what the caller may run, in pages, with the approval of the policy', async () => {
    await using w = await commandWorld(dialect)
    const rules = {
      restart: { roles: ['devops'], approval: 'two_person' },
      parallel: { roles: ['devops'] },
    } as const
    await w.commands.setPolicy(rules, 'ann')
    const first = await w.commands.list(DEVOPS, { limit: 1 })
    assert.deepEqual(
      first.items.map(({ id }) => id),
      ['parallel'],
    )
    const second = await w.commands.list(DEVOPS, { limit: 1, after: first.next })
    assert.deepEqual(
      second.items.map(({ id, approval }) => [id, approval]),
      [['restart', 'two_person']],
    )
    assert.equal(second.next, null)
    assert.deepEqual((await w.commands.list(caller('x', 'service'), { limit: 9 })).items, [])
  })

  test('admin and auditor list every command, others only theirs', async () => {
    await using w = await commandWorld(dialect)
    await w.commands.setPolicy({ restart: { roles: ['devops'], approval: 'two_person' } }, 'ann')
    const theirs = await w.commands.list(ADMIN, { limit: 9 })
    assert.ok(!theirs.items.some(({ id }) => id === 'restart'))
    for (const role of ['admin', 'auditor'] as const) {
      const { items } = await w.commands.list(caller('ann', role), { limit: 9 }, true)
      assert.equal(items.length, theirs.items.length + 1, role)
      assert.equal(items.find(({ id }) => id === 'restart')?.approval, 'two_person')
    }
    await assert.rejects(w.commands.list(DEVOPS, { limit: 9 }, true), { code: 'forbidden' })
  })

  test('an approver who may not run a command reads what would run', async () => {
    await using w = await commandWorld(dialect)
    const rule = { roles: ['admin'], approvers: ['devops'], approval: 'two_person' } as const
    await w.commands.setPolicy({ restart: rule }, 'ann')
    const request = { params: { unit: 'a b' }, reason: 'It hangs.' }
    const { id } = await w.commands.request('restart', request, ADMIN)
    const described = async () => {
      const describe = await w.service.describer()
      const { title, wouldRun, approvers } = describe(await w.commands.execution(id, ADMIN))
      return [title, wouldRun, approvers]
    }
    assert.deepEqual(await described(), ['A command', ['systemctl', 'restart', 'a b'], ['devops']])
    const change = (values: { status?: ExecutionStatus; command_id?: string; params?: string }) =>
      w.store.write(async ({ db }) => {
        await db.updateTable('command_executions').set(values).where('id', '=', id).execute()
      })
    await change({ params: '{}' })
    assert.deepEqual(await described(), ['A command', null, ['devops']], 'another parameter is configured')
    await change({ params: '{"unit":"db"}', status: 'queued' })
    assert.deepEqual(await described(), ['A command', null, null], 'it is decided')
    await change({ command_id: 'removed', status: 'awaiting_approval' })
    assert.deepEqual(await described(), [null, null, ['admin']])
  })

  test('access is explained for a user', async () => {
    await using w = await commandWorld(dialect)
    w.accounts.set('joe', { roles: ['admin'], enabled: true })
    assert.equal((await w.commands.explain('restart', 'joe')).allowed, true)
    await assert.rejects(w.commands.explain('restart', 'nobody'), { code: 'user_not_found' })
    await assert.rejects(w.commands.explain('unknown', 'joe'), { code: 'command_not_found' })
  })

  test('old executions are removed with their output, unfinished ones stay', async () => {
    await using w = await commandWorld(dialect)
    const { id } = await w.commands.request('restart', NO_REASON, ADMIN)
    await w.commands.request('parallel', NO_REASON, ADMIN)
    await w.commands.cancel(id, ADMIN)
    w.clock.advance(HOUR)
    assert.equal(await w.upkeep.prune(w.clock.now(), 10), 1)
    assert.deepEqual(await w.upkeep.countUnfinished(), [{ status: 'queued', executions: 1 }])
  })
})
