import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  copyFileSync,
  globSync,
  mkdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { PROGRAM, runPlatform, temporaryDirectory, testEnvironment } from '../support/platform.ts'
import { assertSuccess, onSqlite } from '../support/platform-commands.ts'
import { scopeOf } from '../support/scope.ts'
import { blocksOf } from '../support/shown-commands.ts'

const GUIDE = join(import.meta.dirname, '../../docs/guide/data-backups.md')
const SECTION = '## Restoring one'
const NOBODY = 65_534
const AS_NOBODY = ['setpriv', `--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups']
const IS_ROOT = { skip: process.getuid?.() !== 0 && 'only root can be another user' }

/** The lines that the guide shows for a restoration, with the paths of another server. */
function shownLines(paths: { readonly backup: string; readonly config: string }): string {
  const section = readFileSync(GUIDE, 'utf8').split(SECTION)[1] ?? ''
  const lines = blocksOf(section).find(({ language }) => language === 'sh')?.text ?? ''
  assert.match(lines, /^platform data restore \/var\/backups\/\S+ --config \/etc\/platform\/platform\.toml$/m)
  return lines
    .replace(/\/var\/backups\/\S+/, paths.backup)
    .replaceAll('/etc/platform/platform.toml', paths.config)
}

/** A server whose platform runs as another user than root, with a backup that root keeps. */
async function serverWith(t: Parameters<typeof scopeOf>[0]) {
  const directory = scopeOf(t).use(temporaryDirectory()).path
  const paths = {
    data: join(directory, 'data'),
    backup: join(directory, 'backups', 'copy.db'),
    config: join(directory, 'platform.toml'),
  }
  for (const name of ['data', 'backups', 'bin']) mkdirSync(join(directory, name))
  chmodSync(directory, 0o755)
  chownSync(paths.data, NOBODY, NOBODY)
  writeFileSync(paths.config, `data_dir = "${paths.data}"\n`)
  const node = `exec '${process.execPath}' '${PROGRAM}' "$@"\n`
  for (const [name, text] of Object.entries({ platform: node, systemctl: ':\n' }))
    writeFileSync(join(directory, 'bin', name), `#!/bin/sh\n${text}`, { mode: 0o755 })
  assertSuccess(await runPlatform(['db', 'migrate'], { dataDir: paths.data, wrapper: AS_NOBODY }))
  assertSuccess(await runPlatform(['data', 'backup'], { dataDir: paths.data, wrapper: AS_NOBODY }))
  const [made = ''] = globSync(join(paths.data, 'backups', '*.db'))
  copyFileSync(made, paths.backup)
  chownSync(paths.backup, 0, 0)
  chmodSync(paths.backup, 0o600)
  const { DATA_DIR: _, ...env } = testEnvironment(paths.data, {})
  const PATH = `${join(directory, 'bin')}:${env['PATH']}`
  return {
    ...paths,
    database: join(paths.data, 'platform.db'),
    type: (lines: string, wrapper: readonly string[] = []) => {
      const [command, ...args] = [...wrapper, 'bash', '-e', '-c', lines] as const
      return promisify(execFile)(command, args, { cwd: paths.data, env: { ...env, PATH } })
    },
  }
}

test('root restores with the lines of the guide, and the database keeps its owner', IS_ROOT, async (t) => {
  const { database, type, ...paths } = await serverWith(t)
  onSqlite(database, 'create table later (id integer)')
  const { stdout } = await type(shownLines(paths))
  assert.match(stdout, /^restored .* The former database is kept as /m)
  assert.equal(statSync(database).uid, NOBODY)
})

test(
  'the user of the platform restores a file of its own, and reads what to do about one of root',
  IS_ROOT,
  async (t) => {
    const { type, ...paths } = await serverWith(t)
    const lines = shownLines(paths)
    const refusal = `platform: The user ${NOBODY} cannot read ${paths.backup}. Run the command as root`
    const refused = (error: { stderr: string }) =>
      error.stderr.startsWith(refusal) && !/EACCES/.test(error.stderr)
    await assert.rejects(type(lines, AS_NOBODY), refused)
    chmodSync(join(paths.backup, '..'), 0o700)
    await assert.rejects(type(lines, AS_NOBODY), refused)
    chmodSync(join(paths.backup, '..'), 0o755)
    chownSync(paths.backup, NOBODY, NOBODY)
    assert.match((await type(lines, AS_NOBODY)).stdout, /^restored /m)
  },
)
