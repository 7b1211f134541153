import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  existsSync,
  linkSync,
  lutimesSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { cleaningDeps } from '../../../../test/support/backup-host.ts'
import { systemClock } from '../../../../src/kernel/clock.ts'
import { DAY, SECOND } from '../../../../src/kernel/time.ts'
import { dryRunFileChanges, hostFileChanges, type FileChanges } from '../file-changes.ts'
import type { CleaningDeps } from './step.ts'
import { cleanTmp } from './tmp.ts'

const EIGHT_DAYS = 8 * DAY

/** A temporary directory, and a directory outside of it. */
function world(t: TestContext) {
  const base = mkdtempSync(join(realpathSync(tmpdir()), 'clean-tmp-'))
  t.after(() => rmSync(base, { recursive: true, force: true }))
  const [root, outside] = [join(base, 'tmp'), join(base, 'outside')]
  for (const path of [root, outside]) mkdirSync(path)
  return {
    base,
    root,
    outside,
    clean: (deps: Partial<CleaningDeps> = {}) => cleanTmp(cleaningDeps({ tmpDir: root, ...deps })),
  }
}

/** Makes an entry as old as that. */
function age(path: string | Buffer, milliseconds = EIGHT_DAYS): void {
  const at = (systemClock.now() - milliseconds) / SECOND
  lutimesSync(path, at, at)
}

function oldFile(path: string, text = 'x'): string {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
  age(path)
  return path
}

/** The paths of all entries below a directory; links are not followed. */
function left(path: string): string[] {
  const entries = readdirSync(path, { withFileTypes: true }).flatMap((entry) => {
    const below = entry.isDirectory() ? left(join(path, entry.name)) : []
    return [entry.name, ...below.map((each) => `${entry.name}/${each}`)]
  })
  return entries.toSorted()
}

describe('the step tmp', () => {
  it('removes what is older than 7 days, and says what it freed', async (t) => {
    const { root, clean } = world(t)
    oldFile(join(root, 'old'), 'x'.repeat(100_000))
    age(oldFile(join(root, 'almost')), 7 * DAY - 60 * SECOND)
    age(oldFile(join(root, 'just')), 7 * DAY + 60 * SECOND)
    writeFileSync(join(root, 'new'), 'x')
    const { blocks } = statSync(join(root, 'old'))
    const one = statSync(join(root, 'just')).blocks
    assert.deepEqual(await clean(), { freedBytes: (blocks + one) * 512, detail: '2 removed' })
    assert.deepEqual(left(root), ['almost', 'new'])
  })

  it('keeps a file that was changed long ago and used since', async (t) => {
    const { root, clean } = world(t)
    const path = oldFile(join(root, 'unpacked'))
    utimesSync(path, systemClock.now() / SECOND, (systemClock.now() - EIGHT_DAYS) / SECOND)
    await clean()
    assert.deepEqual(left(root), ['unpacked'])
  })

  it('removes old directories that are empty, or become so', async (t) => {
    const { root, clean } = world(t)
    oldFile(join(root, 'a/b/file'))
    mkdirSync(join(root, 'young'))
    oldFile(join(root, 'kept/old'))
    writeFileSync(join(root, 'kept/new'), 'x')
    for (const name of ['a/b', 'a', 'kept']) age(join(root, name))
    await clean()
    assert.deepEqual(left(root), ['kept', 'kept/new', 'young'])
  })

  it('removes an old link itself, and follows none', async (t) => {
    const { root, outside, clean } = world(t)
    const target = oldFile(join(outside, 'file'))
    symlinkSync(target, join(root, 'to-file'))
    symlinkSync(outside, join(root, 'to-directory'))
    symlinkSync('..', join(root, 'to-parent'))
    symlinkSync('loop', join(root, 'loop'))
    symlinkSync(outside, join(root, 'young'))
    for (const name of ['to-file', 'to-directory', 'to-parent', 'loop']) age(join(root, name))
    assert.deepEqual(await clean(), { freedBytes: 0, detail: '4 removed' })
    assert.deepEqual(left(root), ['young'])
    assert.deepEqual(left(outside), ['file'])
  })

  it('frees nothing by removing one of several names of a file', async (t) => {
    const { root, outside, clean } = world(t)
    const target = oldFile(join(outside, 'file'), 'content')
    linkSync(target, join(root, 'name'))
    age(target)
    assert.deepEqual(await clean(), { freedBytes: 0, detail: '1 removed' })
    assert.equal(readFileSync(target, 'utf8'), 'content')
  })

  it('removes names with line breaks, and names that are not UTF-8', async (t) => {
    const { root, clean } = world(t)
    oldFile(join(root, 'a\n b', 'c\n'))
    age(join(root, 'a\n b'))
    const bytes = Buffer.concat([Buffer.from(`${root}/`), Buffer.from([0x66, 0xff, 0xfe, 0x0a])])
    writeFileSync(bytes, 'x')
    age(bytes)
    const directory = Buffer.concat([Buffer.from(`${root}/`), Buffer.from([0x64, 0xff])])
    mkdirSync(directory)
    age(directory)
    await clean()
    assert.deepEqual(left(root), [])
  })

  it('keeps sockets, pipes, and the directories of units and of the system', async (t) => {
    const { root, clean } = world(t)
    const server = createServer().listen(join(root, 'socket'))
    await once(server, 'listening')
    t.after(() => server.close())
    execFileSync('mkfifo', [join(root, 'pipe')])
    const kept = [
      'systemd-private-7a-unit.service-x/tmp/file',
      'snap-private-tmp/file',
      '.X11-unix/X0',
      '.X0-lock',
      'lost+found/f',
    ]
    for (const name of kept) age(dirname(oldFile(join(root, name))))
    oldFile(join(root, 'nested/systemd-private-fake/file'))
    for (const name of ['socket', 'pipe', '.X0-lock']) age(join(root, name))
    await clean()
    const files = left(root)
    for (const name of [...kept, 'socket', 'pipe']) assert.ok(files.includes(name), name)
    assert.ok(!files.includes('nested/systemd-private-fake/file'))
  })

  it('keeps a protected file, and does not enter a protected directory, whatever its path is', async (t) => {
    const { base, root, clean } = world(t)
    oldFile(join(root, 'platform/data/file'))
    oldFile(join(root, 'platform.db'))
    oldFile(join(root, 'other'))
    symlinkSync(join(root, 'platform'), join(base, 'alias'))
    await clean({ protectedPaths: [join(base, 'alias'), join(base, 'missing'), join(root, 'platform.db')] })
    assert.deepEqual(left(root), ['platform', 'platform.db', 'platform/data', 'platform/data/file'])
  })

  it('does not follow a directory that is replaced by a link meanwhile', async (t) => {
    const { base, root, outside, clean } = world(t)
    const precious = oldFile(join(outside, 'file'))
    for (const name of ['a', 'b', 'c', 'd']) oldFile(join(root, name, 'file'))
    let isReplaced = false
    const replacing: FileChanges = {
      ...hostFileChanges,
      removeFile(directory, name) {
        // The directory that is being cleaned, and later ones.
        if (!isReplaced)
          for (const each of ['a', 'b', 'c', 'd']) {
            renameSync(join(root, each), join(base, each))
            symlinkSync(outside, join(root, each))
          }
        isReplaced = true
        hostFileChanges.removeFile(directory, name)
      },
    }
    await clean({ files: replacing })
    assert.ok(isReplaced)
    assert.ok(existsSync(precious))
    const moved = ['a', 'b', 'c', 'd'].filter((each) => !existsSync(join(base, each, 'file')))
    assert.equal(moved.length, 1)
  })

  it('does not follow a file that is replaced by a link meanwhile', async (t) => {
    const { root, outside, clean } = world(t)
    const precious = oldFile(join(outside, 'file'))
    const path = oldFile(join(root, 'file'))
    const replacing: FileChanges = {
      ...hostFileChanges,
      removeFile(directory, name) {
        rmSync(path)
        symlinkSync(precious, path)
        hostFileChanges.removeFile(directory, name)
      },
    }
    await clean({ files: replacing })
    assert.ok(existsSync(precious))
    assert.deepEqual(left(root), [])
  })

  it('does not mind entries that are gone, or that cannot be removed', async (t) => {
    const { root, clean } = world(t)
    for (const name of ['a', 'b', 'c']) oldFile(join(root, name))
    const failures = ['ENOENT', 'EPERM', 'EBUSY']
    const refusing: FileChanges = {
      ...hostFileChanges,
      removeFile() {
        throw Object.assign(new Error('refused'), { code: failures.pop() })
      },
    }
    assert.deepEqual(await clean({ files: refusing }), {
      freedBytes: 0,
      detail: '0 removed, 2 could not be removed',
    })
  })

  it('fails when the file system does, and names the file', async (t) => {
    const { root, clean } = world(t)
    oldFile(join(root, 'a'))
    const broken: FileChanges = {
      ...hostFileChanges,
      removeFile() {
        throw Object.assign(new Error('EIO: i/o error'), { code: 'EIO' })
      },
    }
    await assert.rejects(clean({ files: broken }), {
      message: `${JSON.stringify(join(root, 'a'))} cannot be removed (EIO)`,
    })
  })

  it('stops when it is interrupted', async (t) => {
    const { root, clean } = world(t)
    for (const name of ['a', 'b']) oldFile(join(root, name))
    const stop = new AbortController()
    const stopping: FileChanges = {
      ...hostFileChanges,
      removeFile(directory, name) {
        hostFileChanges.removeFile(directory, name)
        stop.abort()
      },
    }
    await assert.rejects(clean({ files: stopping, signal: stop.signal }), { name: 'AbortError' })
    assert.equal(left(root).length, 1)
  })

  it('cleans a directory with 10,000 files', async (t) => {
    const { root, clean } = world(t)
    for (let at = 0; at < 10_000; at++) writeFileSync(join(root, `file-${at}`), '')
    const clock = { ...systemClock, now: () => systemClock.now() + EIGHT_DAYS }
    assert.deepEqual(await clean({ clock }), { freedBytes: 0, detail: '10000 removed' })
  })

  it('leaves what is deeper than 128 directories', async (t) => {
    const { root, clean } = world(t)
    const deep = (levels: number) => join(root, ...Array.from({ length: levels }, () => 'd'))
    oldFile(join(deep(300), 'file'))
    oldFile(join(deep(100), 'file'))
    await clean()
    assert.ok(existsSync(join(deep(300), 'file')))
    assert.ok(!existsSync(join(deep(100), 'file')))
  })

  it('prints what it would remove in a dry run', async (t) => {
    const { root, clean } = world(t)
    oldFile(join(root, 'a/line\nbreak'))
    writeFileSync(join(root, 'young'), '')
    mkdirSync(join(root, 'kept'))
    writeFileSync(join(root, 'kept/young'), '')
    for (const name of ['a', 'kept']) age(join(root, name))
    const lines: string[] = []
    await clean({ files: dryRunFileChanges((line) => lines.push(line)) })
    assert.deepEqual(lines, [
      `would remove ${JSON.stringify(`${root}/a/line\nbreak`)}`,
      `would remove ${JSON.stringify(`${root}/a`)}`,
    ])
    assert.deepEqual(left(root), ['a', 'a/line\nbreak', 'kept', 'kept/young', 'young'])
  })

  for (const source of ['tmpfs', 'bind'] as const) {
    it(`does not leave its file system (${source})`, async (t) => {
      const { root, outside, clean } = world(t)
      const point = join(root, 'mounted')
      mkdirSync(point)
      const args = source === 'bind' ? ['--bind', outside, point] : ['-t', 'tmpfs', 'none', point]
      if (spawnSync('mount', args).status !== 0) return t.skip('this account cannot mount')
      t.after(() => spawnSync('umount', [point]))
      oldFile(join(point, 'file'))
      await clean()
      assert.deepEqual(left(point), ['file'])
      assert.equal(spawnSync('umount', [point]).status, 0)
    })
  }
})

describe('the setting tmp_dir', () => {
  it('must not be a link, or be reached through one', async (t) => {
    const { base, root, outside, clean } = world(t)
    const precious = oldFile(join(outside, 'sub/file'))
    symlinkSync(outside, join(root, 'link'))
    await assert.rejects(clean({ tmpDir: join(root, 'link') }), /link is a symbolic link/)
    await assert.rejects(clean({ tmpDir: join(root, 'link/sub') }), /link is a symbolic link/)
    assert.ok(existsSync(precious) && existsSync(base))
  })

  for (const tmpDir of ['/', '//', '/etc', '/etc/', '/var/lib/', '/usr/./', '/tmp/../etc', 'tmp', ''])
    it(`must not be ${JSON.stringify(tmpDir)}`, async (t) => {
      await assert.rejects(world(t).clean({ tmpDir }), /name a directory that has only temporary files/)
    })

  it('must not be a protected directory', async (t) => {
    const { root, clean } = world(t)
    await assert.rejects(clean({ protectedPaths: [root] }), /only temporary files/)
  })

  it('may be missing', async (t) => {
    const { root, clean } = world(t)
    assert.deepEqual(await clean({ tmpDir: join(root, 'none') }), {
      skipped: `there is no directory ${root}/none`,
    })
  })
})
