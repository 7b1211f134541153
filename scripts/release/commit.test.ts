import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { commitOf, packageVersion } from './commit.ts'
import { runToEnd } from './run-to-end.ts'

test('a build names its commit, and its package the day of it unless it is a release', (t) => {
  const checkout = mkdtempSync(join(tmpdir(), 'platform-commit-'))
  t.after(() => rmSync(checkout, { recursive: true }))
  assert.equal(commitOf(checkout), undefined)
  assert.equal(packageVersion('2.4.0', checkout), '2.4.0')

  const env = {
    GIT_AUTHOR_DATE: '2026-03-01T12:00:00Z',
    GIT_COMMITTER_DATE: '2026-03-01T12:00:00Z',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_CONFIG_SYSTEM: '/dev/null',
  }
  const git = (...args: string[]) =>
    runToEnd('git', ['-c', 'user.name=a', '-c', 'user.email=a@b.invalid', ...args], { cwd: checkout, env })
  const file = join(checkout, 'file')
  writeFileSync(file, 'one')
  git('init', '--quiet')
  git('add', '.')
  git('commit', '--quiet', '-m', 'one')
  const id = git('rev-parse', '--short=12', 'HEAD').trim()
  assert.deepEqual(commitOf(checkout), { id, day: '20260301' })
  assert.equal(packageVersion('2.4.0', checkout), `2.4.0+git20260301.${id}`)

  git('tag', 'v2.4.0')
  assert.deepEqual(commitOf(checkout), { id, day: '20260301' })
  assert.equal(packageVersion('2.4.0', checkout), '2.4.0')

  writeFileSync(file, 'two')
  assert.equal(commitOf(checkout)?.id, `${id}-dirty`)
  assert.equal(packageVersion('2.4.0', checkout), `2.4.0+git20260301.${id}.dirty`)
})
