import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { driveWorld } from '../support/drive-world.ts'
import { DRIVE_CLIENT_SECRET } from '../support/mock-drive.ts'
import { CLEANERS, writeNightFiles } from '../support/night-files.ts'
import { PROGRAM, runPlatform, servePlatform, temporaryDirectory } from '../support/platform.ts'

const skip = process.getuid?.() !== 0 && 'the backup needs root'

const RECORDER = join(import.meta.dirname, '../support/recorded-programs.ts')
/** A server with a platform, a log, and the files of its drive. */
async function server() {
  const directory = temporaryDirectory()
  const drives = await driveWorld()
  const { root, tokenFile, secretsFile, env: night } = writeNightFiles(directory.path, drives.mock.url)
  const platform = await servePlatform({ dataDir: directory.path })
  const env = {
    ...night,
    BACKUP_PLATFORM_API: platform.url,
    NODE_OPTIONS: `--import=${RECORDER}`,
    RECORDED_PROGRAMS: join(directory.path, 'programs.jsonl'),
    LISTEN_ADDR: platform.url.replace('http://', ''),
    GATEWAY_LISTEN_ADDR: platform.gatewayUrl.replace('http://', ''),
  }
  return {
    root,
    tokenFile,
    secretsFile,
    platform,
    jwtSecret: readFileSync(join(directory.path, 'jwt-secret'), 'utf8').trim(),
    /** The arguments of every command and of the programs that it has started. */
    recordedPrograms: () => readFileSync(env.RECORDED_PROGRAMS, 'utf8'),
    run: (...args: string[]) => runPlatform(['backup', ...args], { dataDir: directory.path, env }),
    async [Symbol.asyncDispose]() {
      await platform[Symbol.asyncDispose]()
      await drives[Symbol.asyncDispose]()
      directory[Symbol.dispose]()
    },
  }
}

function filesBelow(root: string): string[] {
  const names = readdirSync(root, { recursive: true, encoding: 'utf8' })
  return names.map((name) => join(root, name)).filter((path) => statSync(path).isFile())
}

test(
  'backup run saves the database of a running platform, and its secrets are nowhere',
  { skip },
  async () => {
    await using host = await server()
    const dry = await host.run('run', '--dry-run')
    assert.equal(dry.code, 0, dry.stderr)
    assert.match(dry.stdout, /^would upload servers\/main\/backup\/\d{6}\/backup-\d{8}-\d{6}\.tar\.zst: /m)
    assert.match(dry.stdout, /\ndry run of backup \d{8}-\d{6}: a package of .* nothing was uploaded, .*\n$/)
    assert.ok(!existsSync(join(host.root, 'backups/state.json')))

    const { code, stdout, stderr } = await host.run('run', '--json')
    assert.equal(code, 0, stderr)
    const outcome = JSON.parse(stdout) as Record<string, unknown>
    assert.partialDeepStrictEqual(outcome, { outcome: 'succeeded', state: 'cleaned', reboot: 'off' })
    const again = await host.run('run', '--scheduled')
    assert.deepEqual([again.code, again.stdout.startsWith('nothing to do: ')], [0, true])

    const drill = await host.run('restore', '--latest', '--into', join(host.root, 'restored'))
    assert.equal(drill.code, 0, drill.stdout)
    assert.match(drill.stdout, new RegExp(`^backup ${String(outcome['backup_id'])} can be restored: `, 'm'))
    const manifest = readFileSync(join(host.root, 'restored/MANIFEST.json'), 'utf8')
    assert.ok((JSON.parse(manifest) as { tables: Record<string, unknown> }).tables['orders'])
    assert.ok(existsSync(join(host.root, 'restored/logs/web/access.log')))

    const alerts = await (await host.platform.call('GET', '/alerts?limit=100')).text()
    assert.match(alerts, /backup\.done/)
    assert.match(alerts, /platform\.backup\.primary/)
    const tickets = await (await host.platform.call('GET', '/tickets?limit=100')).text()
    assert.match(tickets, /Restore drill of backup/)
    const outputs = [dry, again, drill].map((each) => each.stdout + each.stderr)
    assertNoSecrets(host, [stdout, stderr, alerts, tickets, ...outputs])

    await assertRecovery(host)

    chmodSync(host.tokenFile, 0o640)
    const refused = await host.run('run')
    assert.deepEqual([refused.code, refused.stdout], [2, ''])
    assert.match(
      refused.stderr,
      /^default: backup\.drive\.token_file: expected a file that only its owner can read .*, got mode 640\n$/,
    )
  },
)

/** Neither in what the commands print and report, nor in their files, nor in arguments of programs. */
function assertNoSecrets(host: Awaited<ReturnType<typeof server>>, outputs: readonly string[]): void {
  const tokens = JSON.parse(readFileSync(host.tokenFile, 'utf8')) as Record<string, unknown>
  const secrets = [DRIVE_CLIENT_SECRET, host.jwtSecret, tokens['access_token'], tokens['refresh_token']]
  const programs = host.recordedPrograms()
  for (const name of CLEANERS) assert.match(programs, new RegExp(`^\\["${name}",`, 'm'))
  const files = filesBelow(host.root).filter((path) => ![host.tokenFile, host.secretsFile].includes(path))
  for (const text of [...outputs, programs, ...files.map((path) => readFileSync(path, 'latin1'))])
    for (const secret of secrets) assert.ok(!text.includes(String(secret)))
}

/** As after a reboot: the self-check passes on the running platform, and closes the alert. */
async function assertRecovery(host: Awaited<ReturnType<typeof server>>): Promise<void> {
  const path = join(host.root, 'backups/state.json')
  const state = JSON.parse(readFileSync(path, 'utf8')) as Record<string, unknown>
  writeFileSync(path, JSON.stringify({ ...state, pendingReboot: { backupId: '20260131-020000', at: 1 } }))
  const { code, stdout } = await host.run('selfcheck', '--json')
  const { passed, checks } = JSON.parse(stdout) as { passed: boolean; checks: unknown }
  assert.deepEqual([code, passed], [0, true], JSON.stringify(checks))
  assert.ok(!readFileSync(path, 'utf8').includes('pendingReboot'))
}

test('without root every command is one line and exit code 1, and touches nothing', async () => {
  using directory = temporaryDirectory()
  const asUser = 'data:text/javascript,process.getuid=()=>1000'
  const root = join(directory.path, 'server')
  for (const command of ['run', 'restore']) {
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      ['--import', asUser, PROGRAM.replace('.mjs', '.ts'), 'backup', command],
      {
        cwd: directory.path,
        env: { PATH: process.env['PATH'], BACKUP_INSTALL_ROOT: root },
        encoding: 'utf8',
      },
    )
    assert.deepEqual(
      [status, stdout, stderr],
      [1, '', 'platform: platform backup needs root; run it with sudo.\n'],
    )
  }
  assert.deepEqual(readdirSync(directory.path), [])
})
