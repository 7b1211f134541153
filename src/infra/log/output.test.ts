import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { text } from 'node:stream/consumers'
import { eventually } from '../../../test/support/eventually.ts'
import { BufferedOutput } from './output.ts'

function openFile(t: TestContext): { fd: number; read(): string } {
  const directory = mkdtempSync(join(tmpdir(), 'log-'))
  const path = join(directory, 'out.log')
  const fd = openSync(path, 'a')
  t.after(() => {
    closeSync(fd)
    rmSync(directory, { recursive: true })
  })
  return { fd, read: () => readFileSync(path, 'utf8') }
}

test('lines wait for a batch, at most 200 ms', async (t) => {
  const file = openFile(t)
  const output = new BufferedOutput(file.fd, { batched: true, onLost: () => {} })
  output.write('one\n')
  output.write('two\n')
  assert.equal(file.read(), '')
  // The output's own timer lets a process end.
  const alive = setInterval(() => {}, 1_000)
  t.after(() => clearInterval(alive))
  assert.equal(await eventually('the lines', () => file.read() || undefined), 'one\ntwo\n')
})

test('every line is written once and in order, at any pace', async (t) => {
  const file = openFile(t)
  const output = new BufferedOutput(file.fd, { batched: true, onLost: () => {} })
  const lines = Array.from({ length: 20_000 }, (_, index) => `line ${index}\n`)
  for (const [index, line] of lines.entries()) {
    output.write(line)
    if (index % 1_234 === 0) output.flush()
    if (index % 997 === 0) await new Promise(setImmediate)
  }
  await eventually('all but the last batch', () => file.read().length > 200_000 || undefined)
  output.flushSync()
  await eventually('every line', () => file.read() === lines.join('') || undefined)
})

test('lines that come faster than they are written are lost within bounds, and the loss is reported', async (t) => {
  const file = openFile(t)
  const lost: number[] = []
  const output = new BufferedOutput(file.fd, { batched: true, onLost: (count) => void lost.push(count) })
  const line = `${'x'.repeat(8_191)}\n`
  for (let index = 0; index < 1_500; index += 1) output.write(line)
  await eventually('the loss', () => lost.length > 0)
  output.flushSync()
  const [count = 0] = lost
  assert.ok(count > 400 && count < 500, `${count} lost`)
  await eventually('the rest', () => file.read().length === (1_500 - count) * line.length)
})

test('lines that a full disk has lost are reported with its error, once it has room', async (t) => {
  const lost: unknown[] = []
  const full = openSync('/dev/full', 'w')
  const output = new BufferedOutput(full, { batched: true, onLost: (...loss) => void lost.push(loss) })
  output.write('one\n')
  output.flush()
  const isWriting = () => process.getActiveResourcesInfo().some((each) => each.startsWith('FSReq'))
  await eventually('the end of the write', () => !isWriting())
  closeSync(full)
  const file = openFile(t)
  assert.equal(file.fd, full, 'another file has taken the descriptor')
  let written = ''
  await eventually('the report', () => {
    written += 'three\n'
    output.write('three\n')
    output.flush()
    return lost.length > 0
  })
  // What waited longer would go to whoever has the descriptor then.
  await eventually('the rest', () => file.read() === written)
  assert.equal((lost[0] as unknown[])[1], 'ENOSPC')
})

/** Runs a program that logs to its standard output; `script` sees `logger` and `flush`. */
function run(script: string, stdout: 'pipe' | number = 'pipe') {
  const source =
    `import { createLogger } from ${JSON.stringify(new URL('./logger.ts', import.meta.url).href)}\n` +
    `const { logger, flush } = createLogger({ level: 'info', format: 'json' })\n${script}`
  const child = spawn(process.execPath, ['--input-type=module', '-e', source], {
    stdio: ['ignore', stdout, 'pipe'],
  })
  const ended = new Promise<number | null>((resolve) => child.once('exit', (code) => resolve(code)))
  return { child, ended }
}

const MANY = 'for (let index = 0; index < 5000; index += 1) logger.info({ index }, "line")\n'

for (const [ending, script, code] of [
  ['ends by itself', '', 0],
  ['exits at once', 'process.exit(3)', 3],
  ['fails', 'throw new Error("x")', 1],
] as const) {
  test(`every line is on standard output, in order, when the process ${ending}`, async () => {
    const { child, ended } = run(MANY + script)
    assert.ok(child.stdout)
    const [printed, exitCode] = await Promise.all([text(child.stdout), ended])
    const indexes = printed
      .trimEnd()
      .split('\n')
      .map((line) => (JSON.parse(line) as { index: number }).index)
    assert.deepEqual(
      indexes,
      Array.from({ length: 5_000 }, (_, index) => index),
    )
    assert.equal(exitCode, code)
  })
}

test('a process whose reader has gone still ends', async () => {
  const { child, ended } = run(`process.stdin.resume().on("end", () => logger.info({}, "never read"))`)
  child.stdout?.destroy()
  child.stdin?.end()
  assert.equal(await ended, 0)
})

test('a process that cannot write its log still ends', async (t) => {
  const full = openSync('/dev/full', 'w')
  t.after(() => closeSync(full))
  assert.equal(await run(`${MANY}flush()`, full).ended, 0)
})
