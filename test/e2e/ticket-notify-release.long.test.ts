import assert from 'node:assert/strict'
import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { isBuiltin } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { after, before, test } from 'node:test'
import { buildTicketNotify } from '../../scripts/build-ticket-notify.ts'
import { bareNode } from '../support/bare-node.ts'
import { notifierWorld } from '../support/notifier.ts'
import { ticket } from '../support/ticket-api.ts'

const SOURCE = join(import.meta.dirname, '../../programs/ticket-notify')
/** Where all of its source is: files/ is what it shares with other programs. */
const ROOMS = [SOURCE, join(SOURCE, '../files')]
/** The one file besides: both sides of a request sign alike. */
// These two need only Node.js.
const OF_PLATFORM = ['kernel/identity-signature.ts', 'config/journal.ts'].map((file) =>
  join(import.meta.dirname, '../../src', file),
)
const FILES = ['notify.mjs', 'ticket-notify.mjs'] as const

const BARE_NODE = bareNode()

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

test('the built notifier imports only modules of Node.js', () => {
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

test('its source imports neither packages nor the notification module', () => {
  const reached = new Set<string>()
  const visit = (file: string): void => {
    if (reached.has(file)) return
    reached.add(file)
    for (const name of importsOf(file)) {
      if (isBuiltin(name)) continue
      assert.ok(name.startsWith('.'), `${file} imports ${name}`)
      const target = resolve(dirname(file), name)
      const isOwn = ROOMS.includes(dirname(target)) || OF_PLATFORM.includes(target)
      assert.ok(isOwn, `${file} leaves its rooms for ${name}`)
      visit(target)
    }
  }
  visit(join(SOURCE, 'ticket-notify.ts'))
  assert.ok(reached.size > 10, 'the files were found')
  assert.ok(!reached.has(join(SOURCE, 'notify.ts')))
})

test('copied to an empty directory both work with Node.js alone', async () => {
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

test('without the second file the first ends with 1 and one JSON line, before it does anything', async () => {
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
  writeFileSync(join(w.directory, 'notify.mjs'), 'export const something = 1')
  const another = await w.run([], { command })
  assert.deepEqual([another.code, another.lines.length], [1, 1])
  assert.match(another.lines[0]?.message ?? '', /notification module cannot be loaded: it exports no/)
  writeFileSync(join(w.directory, 'notify.mjs'), 'await new Promise(() => undefined)')
  const unsettled = await w.run([], { command })
  assert.deepEqual([unsettled.code, unsettled.lines.length], [1, 1])
  assert.match(unsettled.lines[0]?.message ?? '', /ended without a result/)
  assert.equal(w.api.requests.length, 0)
  assert.ok(!existsSync(w.stateFile))
  w.api.tickets = [ticket('a')]
  assert.equal((await w.run(['--dry-run'], { command })).code, 0, 'a dry run does not need it')
})

test('an unexpected error in a round is one JSON line and exit code 1, and what was sent is remembered', async () => {
  await using w = await notifierWorld()
  copyFileSync(join(released, 'ticket-notify.mjs'), join(w.directory, 'ticket-notify.mjs'))
  const channel =
    "export const notify = async ({ title }) => { if (title.includes('bad')) throw new Error('torn')"
  const outcome = "return { mail: 'sent', robot: 'sent', reasons: {} } }"
  writeFileSync(join(w.directory, 'notify.mjs'), `${channel}; ${outcome}`)
  const command = [BARE_NODE, join(w.directory, 'ticket-notify.mjs')] as const
  assert.equal((await w.run([], { command })).code, 0)
  w.api.tickets = [ticket('good'), ticket('bad', { updated_at: '2999-01-01T00:00:00Z' })]
  const run = await w.run([], { command })
  assert.equal(run.code, 1)
  assert.deepEqual([run.lines.at(-1)?.level, run.lines.at(-1)?.message], ['ERROR', 'the round failed: torn'])
  assert.deepEqual(Object.keys(w.state()), ['good'])
})

test('a Node.js that is too old is one JSON line and exit code 1', async () => {
  await using w = await notifierWorld()
  const pretend =
    "Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '18.19.0' } })"
  const run = await w.run([], {
    command: [BARE_NODE, join(released, 'ticket-notify.mjs')],
    env: { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(pretend)}` },
  })
  assert.deepEqual(
    [run.code, run.lines.map(({ level, message }) => [level, message])],
    [1, [['ERROR', 'Node.js 20 or later is needed, this is 18.19.0']]],
  )
  assert.equal(w.api.requests.length, 0)
})

test('an old Node.js can parse the file: no newer syntax and no newer import', () => {
  const text = readFileSync(join(released, 'ticket-notify.mjs'), 'utf8')
  assert.doesNotMatch(text, /^(?:\S.*\s)?await /m, 'no await outside of functions (Node.js 14.8)')
  assert.doesNotMatch(text, /\?\?=|\|\|=|\?\.|\?\? /, 'no operators of Node.js 14 and 15')
  assert.doesNotMatch(text, /import \{[^}]*parseArgs/, 'node:util has it since Node.js 18.3')
})
