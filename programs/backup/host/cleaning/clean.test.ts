import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import {
  cleaningDeps,
  failing,
  missing,
  printing,
  recordingShell,
  type ShellScript,
} from '../../../../test/support/backup-host.ts'
import { dryRunFileChanges, hostFileChanges, type FileChanges } from '../file-changes.ts'
import { clean, cleaningFailure, describeCleaning, type CleaningStep, reclaimedBytes } from './clean.ts'
import { LINUX_PLACES } from './step.ts'

const MEMORY = (cached: number) =>
  `MemTotal: 100 kB\nBuffers:          10 kB\nCached:   ${cached} kB\nSwapCached: 7 kB\nSReclaimable: 5 kB\n`

/** A host whose caches and memory are files of the test. */
function world(t: TestContext, script: ShellScript = {}) {
  const base = mkdtempSync(join(realpathSync(tmpdir()), 'clean-'))
  t.after(() => rmSync(base, { recursive: true, force: true }))
  const [memoryInfo, dropCaches, cache] = ['meminfo', 'drop_caches', 'cache'].map((name) =>
    join(base, name),
  ) as [string, string, string]
  mkdirSync(join(cache, 'archives'), { recursive: true })
  writeFileSync(memoryInfo, MEMORY(1_000))
  writeFileSync(dropCaches, '')
  const places = {
    packageCaches: { 'apt-get': [cache], dnf: [cache] },
    journals: [cache],
    memoryInfo,
    dropCaches,
  }
  const shell = recordingShell(script)
  const run = async (step: CleaningStep, files: FileChanges = hostFileChanges) => {
    const [result] = await clean([step], cleaningDeps({ shell, files, places }))
    return { ...result, commands: shell.commands }
  }
  return { cache, memoryInfo, dropCaches, places, shell, run }
}

describe('the step packages', () => {
  it('empties the cache with apt-get, and says what that freed', async (t) => {
    const { cache, places } = world(t)
    const file = join(cache, 'archives/x.deb')
    writeFileSync(file, 'x'.repeat(50_000))
    const freedBytes = statSync(file).blocks * 512
    const shell = recordingShell()
    const removing = { ...shell, run: (command: readonly string[]) => (rmSync(file), shell.run(command)) }
    assert.deepEqual(await clean(['packages'], cleaningDeps({ shell: removing, places })), [
      { step: 'packages', status: 'done', freedBytes, detail: 'apt-get' },
    ])
    assert.deepEqual(shell.commands, ['apt-get -o DPkg::Lock::Timeout=60 clean'])
  })

  it('uses dnf where there is no apt-get', async (t) => {
    const { status, detail, commands } = await world(t, { 'apt-get': missing('apt-get') }).run('packages')
    assert.deepEqual(
      [status, detail, commands],
      ['done', 'dnf', ['apt-get -o DPkg::Lock::Timeout=60 clean', 'dnf clean all']],
    )
  })

  it('is skipped where there is neither', async (t) => {
    const { run } = world(t, { 'apt-get': missing('apt-get'), dnf: missing('dnf') })
    const { status, detail } = await run('packages')
    assert.deepEqual([status, detail], ['skipped', 'neither apt-get nor dnf is installed'])
  })

  it('fails when the package manager does so twice', async (t) => {
    const { run } = world(t, { 'apt-get': failing('apt-get: exit code 100: E: Could not get lock') })
    const { status, detail, commands } = await run('packages')
    assert.deepEqual([status, commands.length], ['failed', 2])
    assert.match(detail ?? '', /Could not get lock/)
  })
})

describe('the step journal', () => {
  it('trims the journal to 7 days', async (t) => {
    const { status, freedBytes, commands } = await world(t).run('journal')
    assert.deepEqual([status, freedBytes, commands], ['done', 0, ['journalctl --vacuum-time=7d']])
  })

  it('is skipped without journalctl, and fails when it fails', async (t) => {
    assert.equal((await world(t, { journalctl: missing('journalctl') }).run('journal')).status, 'skipped')
    assert.equal((await world(t, { journalctl: failing('no') }).run('journal')).status, 'failed')
  })
})

describe('the step containers', () => {
  it('prunes dangling images and the build cache', async (t) => {
    const { run } = world(t, {
      podman: missing('podman'),
      'docker image prune': printing('Deleted Images:\ndeleted: sha256:1\n\nTotal reclaimed space: 1.5GB\n'),
      'docker builder prune': printing('ID\n\nTotal:\t20.48kB\n'),
    })
    const { status, freedBytes, detail, commands } = await run('containers')
    assert.deepEqual([status, freedBytes, detail], ['done', 1_500_020_480, 'docker'])
    assert.deepEqual(commands, [
      'docker version',
      'docker image prune --force',
      'docker builder prune --force',
      'podman version',
    ])
  })

  it('uses podman where there is no docker', async (t) => {
    const { status, detail, commands } = await world(t, { docker: missing('docker') }).run('containers')
    assert.deepEqual([status, detail, commands.at(-1)], ['done', 'podman', 'podman image prune --force'])
  })

  it('is skipped when no engine answers', async (t) => {
    const { run } = world(t, { docker: failing('docker: exit code 1: no daemon'), podman: missing('podman') })
    const { status, detail } = await run('containers')
    assert.deepEqual([status, detail], ['skipped', 'docker: exit code 1: no daemon; podman is not installed'])
  })

  it('fails when a prune fails', async (t) => {
    const { status } = await world(t, { 'docker builder prune': failing('docker: no') }).run('containers')
    assert.equal(status, 'failed')
  })

  for (const [output, bytes] of [
    ['Total reclaimed space: 0B\n', 0],
    ['Total reclaimed space: 12.34MB', 12_340_000],
    ['Total reclaimed space: 2 KiB', 2_048],
    ['Total:\t\t1.2TB\n', 1_200_000_000_000],
    ['', 0],
    ['Total reclaimed space: much', 0],
  ] as const)
    it(`reads ${bytes} bytes from ${JSON.stringify(output)}`, () => {
      assert.equal(reclaimedBytes(output), bytes)
    })
})

describe('the step page-cache', () => {
  it('syncs, then drops the cache, and says by how much it shrank', async (t) => {
    const { memoryInfo, dropCaches, run } = world(t)
    const dropping: FileChanges = {
      ...hostFileChanges,
      write(path, text) {
        hostFileChanges.write(path, text)
        writeFileSync(memoryInfo, MEMORY(200))
      },
    }
    const { status, freedBytes, commands } = await run('page-cache', dropping)
    assert.deepEqual([status, freedBytes, commands], ['done', 800 * 1_024, ['sync']])
    assert.equal(readFileSync(dropCaches, 'utf8'), '3\n')
  })

  it('is skipped where the kernel does not let it, as in a container', async (t) => {
    const { dropCaches, run } = world(t)
    rmSync(dropCaches)
    assert.match((await run('page-cache')).detail ?? '', /drop_caches cannot be written here \(ENOENT\)/)
    const readOnly: FileChanges = {
      ...hostFileChanges,
      write() {
        throw Object.assign(new Error('read-only'), { code: 'EROFS' })
      },
    }
    assert.equal((await run('page-cache', readOnly)).status, 'skipped')
  })

  it('does not drop anything in a dry run', async (t) => {
    const { dropCaches, run } = world(t)
    const lines: string[] = []
    await run(
      'page-cache',
      dryRunFileChanges((line) => lines.push(line)),
    )
    assert.deepEqual(lines, [`would write 3 to ${dropCaches}`])
    assert.equal(readFileSync(dropCaches, 'utf8'), '')
  })

  it('fails when sync fails', async (t) => {
    const { status } = await world(t, { sync: failing('sync: no end within 600 s') }).run('page-cache')
    assert.equal(status, 'failed')
  })
})

describe('the cleaning', () => {
  it('runs the steps in the order of the setting, and goes on after one that fails', async (t) => {
    const { places } = world(t)
    const shell = recordingShell({ journalctl: failing('journalctl: no'), 'apt-get': missing('apt-get') })
    const said: string[] = []
    const names: CleaningStep[] = ['journal', 'packages', 'page-cache']
    const results = await clean(names, cleaningDeps({ shell, places }), ({ step }) => said.push(step))
    assert.deepEqual(said, names)
    assert.deepEqual(shell.commands, [
      'journalctl --vacuum-time=7d',
      'apt-get -o DPkg::Lock::Timeout=60 clean',
      'dnf clean all',
      'sync',
    ])
    assert.deepEqual(results.map(describeCleaning), [
      'journal: failed (journalctl: no)',
      'packages: freed 0 bytes (dnf)',
      'page-cache: freed 0 bytes',
    ])
    const failure = cleaningFailure(results)
    assert.equal(failure?.errorCode, 'clean_failed')
    assert.match(failure?.message ?? '', /journal: failed \(journalctl: no\)$/)
    assert.equal(cleaningFailure(results.slice(1)), undefined)
  })

  it('does nothing without steps, and stops when it is interrupted', async () => {
    assert.deepEqual(await clean([], cleaningDeps({})), [])
    await assert.rejects(clean(['journal'], cleaningDeps({ signal: AbortSignal.abort() })), {
      name: 'AbortError',
    })
  })

  it('drops the cache of the running kernel', () => {
    assert.equal(LINUX_PLACES.dropCaches, '/proc/sys/vm/drop_caches')
  })
})
