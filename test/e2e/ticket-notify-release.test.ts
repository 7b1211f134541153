import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { after, before, test } from 'node:test'
import { buildTicketNotify } from '../../scripts/build-ticket-notify.ts'
import { notifierWorld } from '../support/notifier.ts'
import { ticket } from '../support/ticket-api.ts'

const SOURCE = join(import.meta.dirname, '../../programs/ticket-notify')
const FILES = ['notify.mjs', 'ticket-notify.mjs'] as const

/** The Node.js of the system where it is new enough, else ours: the files must be content with either. */
const BARE_NODE = bareNode()

function bareNode(): string {
  const path = '/usr/bin/node'
  if (!existsSync(path)) return process.execPath
  const major = Number(/^v(\d+)/.exec(execFileSync(path, ['--version'], { encoding: 'utf8' }))?.[1])
  return major >= 20 ? path : process.execPath
}

const STATIC_IMPORT = /(?:^|[;\n])\s*(?:import|export)\s(?:[^'"();]*?\sfrom\s*)?['"]([^'"]+)['"]/g
const DYNAMIC_IMPORT = /\bimport\(\s*(['"`])([^'"`]+)\1/g

function importsOf(file: string): string[] {
  const text = readFileSync(file, 'utf8').replace(/^\s*import type .*$/gm, '')
  return [...text.matchAll(STATIC_IMPORT)]
    .map(([, name = '']) => name)
    .concat([...text.matchAll(DYNAMIC_IMPORT)].map(([, , name = '']) => name))
}

let released = ''

before(async () => {
  released = mkdtempSync(join(tmpdir(), 'platform-released-'))
  await buildTicketNotify(released)
})

after(() => rmSync(released, { recursive: true, force: true }))

test('the release is two files', () => {
  assert.deepEqual(readdirSync(released).sort(), [...FILES])
})

test('the built notifier imports nothing but modules of Node.js, and knows its neighbour by its name alone', () => {
  const imports = importsOf(join(released, 'ticket-notify.mjs'))
  assert.ok(imports.length >= 4, 'the imports were found')
  assert.deepEqual(
    imports.filter((name) => !isBuiltin(name)),
    [],
  )
  assert.deepEqual(
    importsOf(join(released, 'notify.mjs')).filter((name) => !isBuiltin(name)),
    [],
  )
})

test('so does its source: from ticket-notify.ts on, no path leads to a package or to the notification module', () => {
  const reached = new Set<string>()
  const visit = (file: string): void => {
    if (reached.has(file)) return
    reached.add(file)
    for (const name of importsOf(file)) {
      if (isBuiltin(name)) continue
      assert.ok(name.startsWith('.'), `${file} imports ${name}`)
      const target = resolve(dirname(file), name)
      assert.equal(dirname(target), SOURCE, `${file} leaves its room for ${name}`)
      visit(target)
    }
  }
  visit(join(SOURCE, 'ticket-notify.ts'))
  assert.ok(reached.size > 10, 'the rooms were found')
  assert.ok(!reached.has(join(SOURCE, 'notify.ts')))
})

test('copied to an empty directory both work with a bare Node.js', async () => {
  await using w = await notifierWorld()
  for (const file of FILES) copyFileSync(join(released, file), join(w.directory, file))
  const command = [BARE_NODE, join(w.directory, 'ticket-notify.mjs')] as const
  w.configure(['mail', 'robot'])
  w.api.tickets = [ticket('known')]
  assert.equal((await w.run([], { command })).code, 0)
  w.api.tickets = [ticket('known', { status: 'closed' })]
  const run = await w.run([], { command })
  assert.deepEqual([run.code, run.done?.['sent']], [0, 1], run.stderr)
  assert.deepEqual([w.smtp.mails.length, w.smtp.mails[0]?.encrypted, w.robots.shown.length], [1, true, 1])
  assert.equal((await w.run(['--self-test'], { command })).code, 0)
  assert.equal((await w.run(['--limit', '0'], { command })).code, 2)
})

test('without the second file the first says so in one JSON line, and ends with 1 before anything is done', async () => {
  await using w = await notifierWorld()
  copyFileSync(join(released, 'ticket-notify.mjs'), join(w.directory, 'ticket-notify.mjs'))
  const command = [BARE_NODE, join(w.directory, 'ticket-notify.mjs')] as const
  for (const args of [[], ['--self-test']]) {
    const run = await w.run(args, { command })
    assert.equal(run.code, 1)
    assert.deepEqual(
      run.lines.map(({ level, module }) => [level, module]),
      [['ERROR', 'ticket-notify']],
    )
    assert.match(run.lines[0]?.message ?? '', /notification module cannot be loaded/)
  }
  assert.equal(w.api.requests.length, 0)
  assert.ok(!existsSync(w.stateFile))
  w.api.tickets = [ticket('a')]
  assert.equal((await w.run(['--dry-run'], { command })).code, 0, 'who sends nothing does not need it')
})
