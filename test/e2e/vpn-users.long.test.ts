import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemClock } from '../../src/kernel/clock.ts'
import { onEveryDialect, testStore } from '../support/store.ts'
import { runPlatform, temporaryDirectory } from '../support/platform.ts'
import { PASSWORD, vpnOn } from '../support/vpn-store.ts'

onEveryDialect('a user with a session', (dialect) => {
  const commands = [
    { args: ['user', 'disable', 'ada'], reason: 'the user was disabled' },
    { args: ['user', 'passwd', 'ada'], reason: 'the password was changed' },
    { args: ['user', 'role', 'ada', 'auditor'], reason: 'the roles of the user were changed' },
    { args: ['user', 'delete', 'ada'], reason: 'the user was deleted' },
  ]
  for (const { args, reason } of commands) {
    test(`loses it by \`platform ${args.join(' ')}\`, without any other process`, async () => {
      using directory = temporaryDirectory()
      await using world = await testStore(dialect)
      const { users, pool, messages, registryOf } = vpnOn(world.store, systemClock)
      const { id, name } = await users.create({ name: 'ada', password: PASSWORD, roles: ['devops'] })
      const registry = registryOf('primary')
      await registry.join()
      const token = { generation: 1, issuedAt: systemClock.now() }
      const request = { user: { id, name }, token, device: 'laptop', remoteAddress: '192.0.2.10' }
      const session = await registry.register(request)

      const { address } = world
      const database = address.kind === 'sqlite' ? address.path : address.url.reveal()
      const done = await runPlatform(args, {
        dataDir: directory.path,
        env: { DATABASE_URL: database },
        input: `${PASSWORD}\n`,
      })
      assert.equal(done.code, 0, done.stderr)
      assert.deepEqual(await registry.listEnds(), [{ id: session.id, code: 4401, reason }])
      assert.equal((await pool.usage()).used, 0)
      const events = (await messages.pending(10, [])).map(({ subject }) => subject)
      assert.deepEqual(events, ['vpn.audit.session_registered', 'vpn.audit.session_closed'])
    })
  }
})
