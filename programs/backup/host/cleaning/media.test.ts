import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { cleaningDeps } from '../../../../test/support/backup-host.ts'
import { globList } from '../../../../src/config/backup-types.ts'
import { dryRunFileChanges } from '../file-changes.ts'
import { parseMediaGlob, cleanMedia } from './media.ts'
import type { CleaningDeps } from './step.ts'

const FILES = [
  'a.part',
  'a.mp4',
  'b.part',
  'sub/c.part',
  'sub/.hidden.part',
  'sub/deep/d.part',
  '.dot/e.part',
]

function world(t: TestContext) {
  const base = mkdtempSync(join(realpathSync(tmpdir()), 'clean-media-'))
  t.after(() => rmSync(base, { recursive: true, force: true }))
  const file = (name: string) => {
    mkdirSync(dirname(join(base, name)), { recursive: true })
    writeFileSync(join(base, name), 'x')
  }
  for (const name of FILES) file(join('media', name))
  return {
    base,
    file,
    clean: (globs: readonly string[], deps: Partial<CleaningDeps> = {}) =>
      cleanMedia(cleaningDeps({ mediaGlobs: globs.map((each) => join(base, each)), ...deps })),
    removed: () => FILES.filter((name) => !existsSync(join(base, 'media', name))),
  }
}

describe('the step media removes', () => {
  for (const [glob, expected] of [
    ['media/*.part', ['a.part', 'b.part']],
    ['media/a.*', ['a.part', 'a.mp4']],
    ['media/[ab].part', ['a.part', 'b.part']],
    ['media/{a,x}.part', ['a.part']],
    ['media/?.mp4', ['a.mp4']],
    ['media/a.part', ['a.part']],
    ['media/*/*.part', ['sub/c.part']],
    ['media/**/*.part', ['a.part', 'b.part', 'sub/c.part', 'sub/deep/d.part']],
    ['media/sub/**', ['sub/c.part', 'sub/deep/d.part']],
    ['media/**/**/d.part', ['sub/deep/d.part']],
    ['media/.dot/*', ['.dot/e.part']],
    ['media/.*/*', ['.dot/e.part']],
    ['media/sub', []],
    ['media/*', ['a.part', 'a.mp4', 'b.part']],
    ['none/*', []],
  ] as const) {
    it(`${expected.length} files for ${glob}`, async (t) => {
      const { clean, removed } = world(t)
      const outcome = await clean([glob])
      assert.deepEqual(removed(), expected)
      assert.ok('detail' in outcome && outcome.detail === `${expected.length} removed`)
    })
  }

  it('no link, and nothing behind one', async (t) => {
    const { base, file, clean, removed } = world(t)
    file('outside/x.part')
    symlinkSync(join(base, 'outside'), join(base, 'media/link'))
    symlinkSync(join(base, 'outside/x.part'), join(base, 'media/link.part'))
    symlinkSync('..', join(base, 'media/sub/loop'))
    await clean(['media/**/*.part', 'media/*/x.part'])
    assert.ok(existsSync(join(base, 'outside/x.part')) && existsSync(join(base, 'media/link.part')))
    assert.equal(removed().length, 4)
    await assert.rejects(clean(['media/link/*.part']), /media\/link is a symbolic link/)
  })

  it('nothing on another mount below the first wildcard', async (t) => {
    const { base, file, clean } = world(t)
    file('outside/x.part')
    const point = join(base, 'media/sub')
    if (spawnSync('mount', ['--bind', join(base, 'outside'), point]).status !== 0)
      return t.skip('this account cannot mount')
    t.after(() => spawnSync('umount', [point]))
    await clean(['media/**/x.part', 'media/*/x.part'])
    assert.ok(existsSync(join(base, 'outside/x.part')))
    await clean(['media/sub/*.part'])
    assert.ok(!existsSync(join(base, 'outside/x.part')))
    assert.equal(spawnSync('umount', [point]).status, 0)
  })

  it('nothing in a protected directory', async (t) => {
    const { base, clean, removed } = world(t)
    await clean(['media/**/*.part'], { protectedPaths: [join(base, 'media/sub')] })
    assert.deepEqual(removed(), ['a.part', 'b.part'])
  })

  it('nothing in a dry run, which prints the files', async (t) => {
    const { base, clean, removed } = world(t)
    const lines: string[] = []
    await clean(['media/**/d.part'], { files: dryRunFileChanges((line) => lines.push(line)) })
    assert.deepEqual(lines, [`would remove "${base}/media/sub/deep/d.part"`])
    assert.deepEqual(removed(), [])
  })

  it('nothing when one of the globs is refused', async (t) => {
    const { base, removed } = world(t)
    const mediaGlobs = [join(base, 'media/*.part'), 'media/*.part']
    await assert.rejects(cleanMedia(cleaningDeps({ mediaGlobs })), /must be an absolute path/)
    assert.deepEqual(removed(), [])
  })

  it('nothing without a glob', async () => {
    assert.deepEqual(await cleanMedia(cleaningDeps({})), { skipped: 'media_globs is empty' })
  })
})

describe('a glob of media_globs', () => {
  for (const glob of [
    '',
    'media/*.part',
    './x/*.part',
    '/',
    '//',
    '/*',
    '/**',
    '/*/x.part',
    '/x.part',
    '/./*',
    '/media/../*',
    '/media/..',
    '/media/{a/b,c}/*',
    '/media/[a/b]/*',
    '/media/\0*',
  ])
    it(`must not be ${JSON.stringify(glob)}`, () => {
      assert.equal(globList.parse(JSON.stringify([glob]), '/'), undefined)
      assert.throws(() => parseMediaGlob(glob), /media_globs: /)
    })

  it('begins at the directory before its first wildcard', () => {
    assert.deepEqual(parseMediaGlob('/srv//media/./*/x/**'), {
      directory: '/srv/media',
      segments: ['*', 'x', '**', '*'],
    })
    assert.deepEqual(globList.parse('/srv/media/..part/*', '/'), ['/srv/media/..part/*'])
  })
})
