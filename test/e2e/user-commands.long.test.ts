import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { eventually } from '../support/eventually.ts'
import { PASSWORD, assertRefusal, assertSuccess, worldWithDatabase } from '../support/platform-commands.ts'

const OTHER_PASSWORD = 'staple battery horse'

describe('users and tokens without the API', { concurrency: 4 }, () => {
  const add = (name: string, role = 'admin') => ['user', 'add', name, '--role', role]
  const input = `${PASSWORD}\n`

  test('add, list, passwd, disable and enable work beside a running server', async (t) => {
    const { run, serve } = await worldWithDatabase(t)
    const added = assertSuccess(await run(add('Ann'), { input }))
    assert.match(added, /created the user Ann with admin/)
    assertSuccess(await run(['user', 'add', 'ben', '--role', 'service', 'auditor'], { input }))
    const platform = await serve()
    assert.doesNotMatch(platform.stderr(), /First start/, 'there are users already')
    const login = (username: string, password: string) =>
      platform.call('POST', '/auth/login', { body: { username, password } })
    assert.equal((await login('ann', PASSWORD)).status, 200)
    assert.equal((await login('ben', PASSWORD)).status, 200)

    assertSuccess(await run(['token', 'create', 'ben', '--name', 'cash desk']))
    assertSuccess(await run(['token', 'create', 'Ann', '--name', 'till']))
    const tokens = async (...user: string[]) =>
      assertSuccess(await run(['token', 'list', ...user])).replaceAll(/ {2,}.*/g, '')
    assert.equal(await tokens(), 'USER\nAnn\nben\n')
    assert.equal(await tokens('BEN'), 'USER\nben\n')
    assert.match(
      assertSuccess(await run(['user', 'passwd', 'ben'], { input: `${OTHER_PASSWORD}\n` })),
      /password of ben[^]*\nben has 1 API token, not revoked: platform token list ben, platform token revoke ben ID\n$/,
    )
    assert.equal((await login('ben', PASSWORD)).status, 401)
    assert.equal((await login('ben', OTHER_PASSWORD)).status, 200)

    assert.match(assertSuccess(await run(['user', 'disable', 'BEN'])), /disabled/)
    assert.equal((await login('ben', OTHER_PASSWORD)).status, 401)
    const list = assertSuccess(await run(['user', 'list'])).split('\n')
    assert.match(list[0] ?? '', /^NAME +ROLES +STATE +LAST LOGIN$/)
    assert.match(list[1] ?? '', /^Ann +admin +enabled +\d{4}-/)
    assert.match(list[2] ?? '', /^ben +service,auditor +disabled +\d{4}-/)

    const changed = assertSuccess(await run(['user', 'passwd', 'ben'], { input: `${OTHER_PASSWORD}\n` }))
    assert.match(changed, /ben is disabled.*user enable ben/)
    assert.match(assertSuccess(await run(['user', 'enable', 'ben'])), /enabled/)
    assert.equal((await login('ben', OTHER_PASSWORD)).status, 200)
  })

  test('a weak password, no password, a bad name and a name in use are refused', async (t) => {
    const { run } = await worldWithDatabase(t)
    assertRefusal(await run(add('ann b'), { input }), 2, /name/)
    assertRefusal(await run(add('ann'), { input: 'short\n' }), 2, /password.*12/)
    assertRefusal(await run(add('ann'), { input: 'password1234\n' }), 2, /password/)
    assertRefusal(await run(add('ann'), { input: '' }), 2, /standard input/)
    assertSuccess(await run(add('ann'), { input }))
    assertRefusal(await run(add('ANN', 'service'), { input }), 1, /Another user has the name "ANN"/)
    assertRefusal(await run(['user', 'passwd', 'ann'], { input: 'short\n' }), 2, /password.*12/)
  })

  test('role replaces all roles, and delete removes the user, beside a running server', async (t) => {
    const { run, serve } = await worldWithDatabase(t)
    assertSuccess(await run(add('ann'), { input }))
    assertSuccess(await run(add('Ben', 'service'), { input }))
    const platform = await serve({}, 'api')
    const login = () =>
      platform.call('POST', '/auth/login', { body: { username: 'ben', password: PASSWORD } })

    const changed = await run(['user', 'role', 'BEN', 'auditor', 'devops', 'auditor'])
    assert.equal(assertSuccess(changed), 'Ben has the roles devops, auditor\n')
    assert.match(assertSuccess(await run(['user', 'list'])), /^Ben +devops,auditor +enabled/m)
    assert.equal((await login()).status, 200)

    assert.equal(assertSuccess(await run(['user', 'delete', 'BEN'])), 'deleted Ben\n')
    assert.doesNotMatch(assertSuccess(await run(['user', 'list'])), /Ben/)
    assert.equal((await login()).status, 401)
    assertSuccess(await run(add('ben', 'service'), { input }))
  })

  test('the last admin cannot be disabled or deleted, and cannot lose the role', async (t) => {
    const { run } = await worldWithDatabase(t)
    const attempts = (name: string) => [
      ['user', 'disable', name],
      ['user', 'delete', name],
      ['user', 'role', name, 'service', 'auditor'],
    ]
    assertSuccess(await run(add('ann'), { input }))
    for (const args of attempts('ann')) assertRefusal(await run(args), 1, /ann is the last enabled admin/)
    assertSuccess(await run(['user', 'role', 'ann', 'admin', 'service']))
    assertSuccess(await run(add('ben'), { input }))
    assertSuccess(await run(['user', 'disable', 'ann']))
    for (const args of attempts('ben')) assertRefusal(await run(args), 1, /ben is the last enabled admin/)
    assertSuccess(await run(['user', 'delete', 'ann']))
  })

  test('an unknown user is an error that names the user', async (t) => {
    const { run } = await worldWithDatabase(t)
    for (const args of [
      ['user', 'passwd', 'nobody'],
      ['user', 'disable', 'nobody'],
      ['user', 'enable', 'nobody'],
      ['user', 'role', 'nobody', 'admin'],
      ['user', 'delete', 'nobody'],
      ['token', 'issue', 'nobody'],
    ]) {
      assertRefusal(await run(args, { input }), 1, /no user "nobody"/)
    }
  })

  test('a database is copied beside a platform that only reads, with its users', async (t) => {
    const { run, files } = await worldWithDatabase(t)
    assertSuccess(await run(add('ann'), { input }))
    assertRefusal(await run(['db', 'copy']), 2, /--to or by --to-file/)
    assertRefusal(await run(['db', 'copy', '--to', 'other.db']), 2, /no address/)
    assertRefusal(await run(['db', 'copy', '--to', 'sqlite:platform.db']), 2, /configured database itself/)
    const copied = assertSuccess(await run(['db', 'copy', '--to', 'sqlite:other.db']))
    assert.match(copied, /^users +1 +1 +equal$/m)
    assert.ok(files().includes('other.db'))
    assertRefusal(await run(['db', 'copy', '--to', 'sqlite:other.db']), 1, /target .* not empty/)
    const env = { DATABASE_URL: 'sqlite:other.db' }
    assert.match(assertSuccess(await run(['user', 'list'], { env })), /^ann +admin +enabled/m)
    assertSuccess(await run(add('ben'), { input, env }))
    const compared = await run(['db', 'copy', '--verify', '--to', 'sqlite:other.db'])
    assert.deepEqual([compared.code, /^users +1 +2 +differs$/m.test(compared.stdout)], [1, true])
    assert.match(compared.stderr, /differ in .*users/)
  })

  test('a token is not issued before there is a key that a server verifies it with', async (t) => {
    const { run, files } = await worldWithDatabase(t)
    assertSuccess(await run(add('ann'), { input }))
    assertRefusal(await run(['token', 'issue', 'ann']), 1, /no signing key in .*platform serve/)
    assert.ok(!files().includes('jwt-secret'))
  })

  test('a token works at a running server, for its lifetime and until its user is disabled', async (t) => {
    const { run, serve } = await worldWithDatabase(t)
    assertSuccess(await run(add('ann'), { input }))
    assertSuccess(await run(add('ben', 'devops'), { input }))
    const platform = await serve()
    const token = assertSuccess(await run(['token', 'issue', 'ben', '--ttl', '5m'])).trimEnd()
    const me = () => fetch(`${platform.url}/auth/me`, { headers: { authorization: `Bearer ${token}` } })
    const answer = await me()
    assert.equal(answer.status, 200)
    assert.match(await answer.text(), /"ben"/)
    const claims = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as Record<
      string,
      number
    >
    const seconds = Number(claims['exp']) - Number(claims['iat'])
    assert.ok(seconds === 300 || seconds === 301, `${seconds} s: whole seconds, and not less than --ttl`)

    const other = { JWT_SECRET: 'another-signing-key-of-more-than-32-bytes' }
    const warned = await run(['token', 'issue', 'ben'], { env: other })
    assert.deepEqual([warned.code, warned.stdout.split('.').length], [0, 3])
    assert.match(warned.stderr, /last started with another signing key: it refuses this token until/)

    assertSuccess(await run(['user', 'disable', 'ben']))
    await eventually('the token to stop working', async () => (await me()).status === 401)
    assertRefusal(await run(['token', 'issue', 'ben']), 1, /ben is disabled/)
  })
})
