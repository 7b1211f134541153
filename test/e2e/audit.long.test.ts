import assert from 'node:assert/strict'
import { existsSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { eventually } from '../support/eventually.ts'
import { runPlatform, servePlatform, temporaryDirectory } from '../support/platform.ts'

/** Each command that changes the database or the trail, and what is recorded of it; all others change neither. */
const RECORDED = [
  'audit accept',
  'audit rotate',
  'backup selfcheck',
  'data backup',
  'data restore',
  'db migrate',
  'messages replay',
  'payments reconcile',
  'token create',
  'token issue',
  'token revoke',
  'user add',
  'user delete',
  'user disable',
  'user enable',
  'user passwd',
  'user role',
]
const NOT_RECORDED =
  /^(serve|health|config|doctor|db status|data (list|verify)|backup (run|retry|restore|install|uninstall|status)|user list|token list|audit (list|export|verify)|alerts (route|test|test-robot)|db copy|vpn connect|mock-(oidc|drive|pay)|ticket-notify|completion|manual|version|help)$/

test('every command is recorded in the audit trail, or changes nothing that it is about', () => {
  const reference = readFileSync(join(import.meta.dirname, '../../docs/reference/commands.md'), 'utf8')
  const all = [...reference.matchAll(/^## platform (.+)$/gm)].map(([, name = '']) => name)
  const leaves = all.filter((name) => !all.some((other) => other.startsWith(`${name} `)))
  assert.deepEqual(
    leaves.filter((name) => !NOT_RECORDED.test(name)).toSorted(),
    RECORDED,
    'a new command belongs into one of the lists of this test',
  )
  const sources = ['audit', 'backup', 'data', 'db', 'messages', 'payments', 'user']
    .map((name) => readFileSync(join(import.meta.dirname, `../../src/app/commands/${name}.ts`), 'utf8'))
    .join('\n')
  for (const name of RECORDED) assert.ok(sources.includes(`'${name.replace(' ', '.')}'`), name)
})

test('commands have rows; the trail is sealed, tampering is named, a key is rotated, and a restored trail verifies', async () => {
  using directory = temporaryDirectory()
  const dataDir = directory.path
  const run = async (args: readonly string[], input = '') => {
    const result = await runPlatform(args, { dataDir, input, env: { SUDO_USER: 'olga' } })
    return { ...result, text: result.stdout + result.stderr }
  }
  await run(['db', 'migrate'])
  await run(['user', 'add', 'ada', '--role', 'devops'], 'a heavy brass telescope\n')
  await run(['user', 'role', 'ada', 'auditor'])
  const token = (await run(['token', 'create', 'ada', '--name', 'till'])).stdout.trim()
  const sealed = async () => {
    await using platform = await servePlatform({ dataDir, modules: 'worker' })
    await eventually('a seal', () => platform.logs().some((line) => typeof line['seal'] === 'string'))
  }
  await sealed()
  const lines = (await run(['audit', 'export'])).stdout.trimEnd().split('\n')
  const rows = lines.map((line) => JSON.parse(line) as { operation: string; actor: object; changes: object })
  assert.deepEqual(
    rows.map(({ operation }) => operation),
    ['cli.db.migrate', 'cli.user.add', 'cli.user.role', 'cli.token.create', 'start'],
  )
  assert.deepEqual(rows[2]?.actor, { id: 'command-line', name: 'olga', kind: 'local' })
  assert.deepEqual(rows[2]?.changes, { roles: [['devops'], ['auditor']] })
  assert.ok(!lines.join('').includes(token))
  assert.equal(statSync(join(dataDir, 'audit-key')).mode & 0o777, 0o600)
  assert.match(
    (await run(['audit', 'list', '--operation', 'cli.user.role'])).stdout,
    /olga \(local\) +cli\.user\.role/,
  )

  const backup = /^(\S+):/.exec((await run(['data', 'backup'])).stdout)?.[1]
  assert.match((await run(['audit', 'rotate'])).stdout, /made a new key/)
  await sealed()
  const { code, stdout } = await run(['audit', 'verify'])
  assert.equal(code, 0, stdout)
  assert.match(stdout, /^7 rows are as they were sealed, \d+ have no seal yet; newest seal 7:/)
  const database = new DatabaseSync(join(dataDir, 'platform.db'))
  database.exec(`update audit_entries set actor_name = 'nobody' where operation = 'cli.user.role'`)
  const tampered = await run(['audit', 'verify'])
  assert.deepEqual(
    [tampered.code, /^Row 3 \(cli\.user\.role, .*was changed/.test(tampered.stdout)],
    [1, true],
  )
  database.close()

  const file = join(dataDir, 'backups', `${backup}.db`)
  assert.equal((await run(['data', 'restore', file])).code, 0)
  const restored = await run(['audit', 'verify'])
  assert.equal(restored.code, 0, restored.text)
  assert.match((await run(['audit', 'list'])).stdout, /cli\.data\.restore/)
  await sealed()
  assert.equal((await run(['audit', 'verify'])).code, 0)
  rmSync(join(dataDir, 'audit-key'))
  await using platform = await servePlatform({ dataDir, modules: 'worker' })
  const isWarned = platform.logs().some(({ level, keys }) => level === 'warn' && Array.isArray(keys))
  assert.ok(isWarned, 'a lost key of the audit trail')
})

test('the seal that a cut trail lacks is kept until it is accepted by its own text', async () => {
  using directory = temporaryDirectory()
  const dataDir = directory.path
  const run = (args: readonly string[], input = '') => runPlatform(args, { dataDir, input })
  const serve = () => servePlatform({ dataDir, modules: 'worker' })
  await run(['db', 'migrate'])
  await run(['user', 'add', 'ada', '--role', 'devops'], 'a heavy brass telescope\n')
  {
    await using platform = await serve()
    await eventually('a seal', () => platform.logs().some((line) => typeof line['seal'] === 'string'))
  }
  const file = join(dataDir, 'audit-seal')
  const seal = readFileSync(file, 'utf8').trim()
  {
    using database = new DatabaseSync(join(dataDir, 'platform.db'))
    database.exec('delete from audit_seals; delete from audit_entries')
  }
  {
    await using platform = await serve()
    await eventually('an error', () => platform.logs().some(({ level }) => level === 'error'))
  }
  assert.equal(readFileSync(file, 'utf8').trim(), seal)

  const refused = await run(['audit', 'accept', 'nonsense'])
  assert.deepEqual(
    [refused.code, refused.stderr],
    [2, 'platform: SEAL: must match number:code, as the log has it\n'],
  )
  const accepted = await run(['audit', 'accept', seal])
  assert.equal(accepted.code, 0, accepted.stderr)
  // The trail has no other seal yet.
  assert.equal(existsSync(file), false)
  assert.match((await run(['audit', 'list', '--operation', 'cli.audit.accept'])).stdout, /cli\.audit\.accept/)
})
