import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { hash } from 'node:crypto'
import { copyFileSync, existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { after, before, describe, it, test } from 'node:test'
import { ARCHITECTURES, hostArchitecture } from '../../scripts/release/architecture.ts'
import { billOfMaterials } from '../../scripts/release/bill-of-materials.ts'
import { buildPackage } from '../../scripts/release/package.ts'
import { temporaryDirectory } from '../support/platform.ts'

const ROOT = join(import.meta.dirname, '../..')
const READING_MATTER = /\/backend-platform\/(?:docs\/|deploy\/|(?:README|SECURITY|CHANGELOG)\.md$)/
const UNITS = ['platform.service', 'platform@.service']

/** Runs a program to its end; returns what it printed. */
function printed(program: string, ...args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync(program, args, { encoding: 'utf8', cwd: ROOT })
  assert.equal(status, 0, `${program} ${args.join(' ')}\n${stdout}${stderr}`)
  return stdout + stderr
}

// `npm run check:package` installs the real package. Here any small program stands for the executable.
describe('the package', () => {
  const resources = new DisposableStack()
  let file = ''
  let tree = ''
  before(() => {
    const { path } = resources.use(temporaryDirectory())
    tree = join(path, 'tree')
    file = build(path, 'first')
    printed('dpkg-deb', '--raw-extract', file, tree)
  })
  after(() => resources.dispose())

  function build(directory: string, name: string): string {
    const target = join(directory, name)
    mkdirSync(target)
    const executable = join(target, 'platform')
    copyFileSync('/bin/true', executable)
    return buildPackage({ directory: target, architecture: hostArchitecture(), executable, version: '1.2.3' })
  }

  /** Mode, owner and path of each file. */
  function packagedFiles(): (string | undefined)[][] {
    const lines = printed('dpkg-deb', '--contents', file).split('\n')
    const entries = lines.map((line) => line.split(/\s+/)).filter(([mode = '']) => mode.startsWith('-'))
    return entries.map(([mode, owner, , , , path]) => [mode, owner, path])
  }

  it('has the executable, the units, the configuration, completions and a manual page, all owned by root', () => {
    assert.deepEqual(
      packagedFiles().filter(([, , path = '']) => !READING_MATTER.test(path)),
      [
        ['-rw-r--r--', './etc/platform/platform.toml'],
        ['-rwxr-xr-x', './usr/bin/platform'],
        ['-rw-r--r--', './usr/lib/systemd/system/platform.service'],
        ['-rw-r--r--', './usr/lib/systemd/system/platform@.service'],
        ['-rw-r--r--', './usr/share/bash-completion/completions/platform'],
        ['-rw-r--r--', './usr/share/doc/backend-platform/changelog.gz'],
        ['-rw-r--r--', './usr/share/doc/backend-platform/copyright'],
        ['-rw-r--r--', './usr/share/fish/vendor_completions.d/platform.fish'],
        ['-rw-r--r--', './usr/share/lintian/overrides/backend-platform'],
        ['-rw-r--r--', './usr/share/man/man1/platform.1.gz'],
        ['-rw-r--r--', './usr/share/zsh/vendor-completions/_platform'],
      ].map(([mode, path]) => [mode, 'root/root', path]),
    )
  })

  it('has the guides with everything that they link to, but pictures of pages', () => {
    const documents = join(tree, 'usr/share/doc/backend-platform')
    const guides = globSync('docs/guide/*.md', { cwd: documents })
    assert.ok(guides.includes('docs/guide/operating.md'))
    const missing = guides.flatMap((guide) => {
      const links = readFileSync(join(documents, guide), 'utf8').matchAll(/\]\((?!https?:|#)([^)#]+)/g)
      return [...links]
        .map(([, link = '']) => join(documents, dirname(guide), link))
        .filter((path) => !existsSync(path) && !/\.(?:png|jpg)$|\/clients\//.test(path))
    })
    assert.deepEqual(missing, [])
  })

  it('keeps the configuration that an administrator has changed', () => {
    assert.equal(readFileSync(join(tree, 'DEBIAN/conffiles'), 'utf8'), '/etc/platform/platform.toml\n')
  })

  it('is the same file when it is built again', () => {
    using directory = temporaryDirectory()
    const again = build(directory.path, 'again')
    assert.equal(hash('sha256', readFileSync(again)), hash('sha256', readFileSync(file)))
  })

  it('has no fault that lintian knows', () => {
    // The program that stands for the executable has other properties.
    const tags = 'hardening-no-pie,mismatched-override,unused-override'
    printed('lintian', '--fail-on=error,warning', '--allow-root', '--suppress-tags', tags, file)
  })

  it('has completions that bash runs', () => {
    const script = join(tree, 'usr/share/bash-completion/completions/platform')
    const complete = (line: string) =>
      printed(
        'bash',
        '-c',
        `source "$1"; COMP_WORDS=(${line} ''); COMP_CWORD=$((\${#COMP_WORDS[@]} - 1)); _platform; echo "\${COMPREPLY[*]}"`,
        'bash',
        script,
      ).trim()
    assert.equal(complete('platform db'), 'migrate status copy --help')
    assert.equal(complete('platform completion'), 'bash zsh fish --help')
    assert.equal(complete('platform serve --module all'), '--module --config --help')
  })
})

test('ShellCheck finds no fault in the shell scripts and the completion for bash', () => {
  using directory = temporaryDirectory()
  const completion = join(directory.path, 'platform')
  writeFileSync(completion, printed(process.execPath, 'bin/platform.mjs', 'completion', 'bash'))
  printed('shellcheck', '--shell=bash', completion)
  const scripts = ['postinst', 'prerm', 'postrm'].map((name) => `deploy/debian/${name}`)
  printed('shellcheck', '--external-sources', ...scripts, ...globSync('test/package/*.sh', { cwd: ROOT }))
})

test('the bill of materials has the packages of the executable, and nothing that differs between two builds', () => {
  const bill = billOfMaterials()
  const { components, metadata } = JSON.parse(bill) as {
    components: { name: string }[]
    metadata: { timestamp?: string }
  }
  const names = components.map(({ name }) => name)
  assert.deepEqual(
    ['fastify', 'kysely', 'ws', 'vite'].map((name) => names.includes(name)),
    [true, true, true, false],
  )
  for (const { runtimePackage } of ARCHITECTURES) assert.ok(names.includes(runtimePackage), runtimePackage)
  assert.equal(metadata.timestamp, undefined)
  assert.equal(billOfMaterials(), bill)
})

/** The units with the path of this Node.js: systemd complains about a program that does not exist. */
function unitFiles(directory: string): string[] {
  return UNITS.map((name) => {
    const file = join(directory, name.replace('@', '@api'))
    const text = readFileSync(join(ROOT, 'deploy/systemd', name), 'utf8')
    writeFileSync(
      file,
      text.replace('/usr/bin/platform', process.execPath).replace(/^Documentation=.*$/m, ''),
    )
    return file
  })
}

test('systemd accepts the units without a message', () => {
  using directory = temporaryDirectory()
  const files = unitFiles(directory.path)
  assert.equal(printed('systemd-analyze', '--no-pager', 'verify', '--recursive-errors=one', ...files), '')
})

test('the exposure of the units is below 3 of 10', () => {
  using directory = temporaryDirectory()
  for (const file of unitFiles(directory.path)) {
    const output = printed(
      'systemd-analyze',
      '--no-pager',
      'security',
      '--offline=true',
      '--threshold=29',
      file,
    )
    assert.ok(Number(/exposure level for \S+: ([\d.]+)/.exec(output)?.[1]) < 3, output)
  }
})

test('the units report when they are ready, and are watched', () => {
  for (const name of UNITS) {
    const text = readFileSync(join(ROOT, 'deploy/systemd', name), 'utf8')
    for (const line of ['Type=notify', 'NotifyAccess=all', 'WatchdogSec=60', 'Restart=on-failure'])
      assert.match(text, new RegExp(`^${line}$`, 'm'), name)
  }
})
