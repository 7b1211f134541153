import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { bootId, takeProcessLock, type ReleaseLock } from './process-lock.ts'

function lockFile() {
  const directory = mkdtempSync(join(tmpdir(), 'platform-lock-'))
  return {
    path: join(directory, 'state.lock'),
    files: () => readdirSync(directory).sort(),
    [Symbol.dispose]: () => rmSync(directory, { recursive: true, force: true }),
  }
}

function taken(path: string): ReleaseLock {
  const lock = takeProcessLock(path)
  return typeof lock === 'function' ? lock : assert.fail(`held by ${lock.heldBy}`)
}

test('a free lock is taken, and a released one can be taken again', () => {
  using lock = lockFile()
  const release = taken(lock.path)
  assert.deepEqual(lock.files(), ['state.lock'])
  release()
  release()
  assert.deepEqual(lock.files(), [])
  taken(lock.path)()
})

test('releasing twice does not remove another lock', () => {
  using lock = lockFile()
  const release = taken(lock.path)
  release()
  writeFileSync(lock.path, "another one's")
  release()
  assert.ok(existsSync(lock.path))
})

test('a taken lock names its holder', () => {
  using lock = lockFile()
  const release = taken(lock.path)
  assert.deepEqual(takeProcessLock(lock.path), { heldBy: process.pid })
  release()
})

test('a taken lock names its holder, also where no file can be written', () => {
  using lock = lockFile()
  const release = taken(lock.path)
  mkdirSync(`${lock.path}.${process.pid}`)
  assert.deepEqual(takeProcessLock(lock.path), { heldBy: process.pid })
  release()
})

test('the lock of a process that was killed is taken over', async () => {
  using lock = lockFile()
  const program = `const { takeProcessLock } = await import(${JSON.stringify(join(import.meta.dirname, 'process-lock.ts'))})
    takeProcessLock(${JSON.stringify(lock.path)}); console.log('taken'); setInterval(() => {}, 1000)`
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program])
  await once(child.stdout, 'data')
  assert.deepEqual(takeProcessLock(lock.path), { heldBy: child.pid })
  child.kill('SIGKILL')
  await once(child, 'close')
  taken(lock.path)()
  assert.deepEqual(lock.files(), [])
})

test('a lock in a directory that does not exist is an error that names it', () => {
  using lock = lockFile()
  assert.throws(() => takeProcessLock(join(lock.path, 'missing', 'run.lock')), /run\.lock/)
})

test('a lock that cannot be written leaves no file', () => {
  using lock = lockFile()
  symlinkSync('/dev/full', `${lock.path}.${process.pid}`)
  assert.throws(() => takeProcessLock(lock.path), { code: 'ENOSPC' })
  assert.deepEqual(lock.files(), [])
})

test('files of a killed round are removed, files of a running one are not', () => {
  using lock = lockFile()
  const dead = 4_194_305 // above the highest number that a process can have
  const directory = dirname(lock.path)
  const kept = [`state.lock.${process.ppid}`, 'state.lock.old', `other.lock.${dead}`]
  const names = [`state.lock.${dead}`, `state.lock.${dead}.ended`, ...kept]
  for (const name of names) writeFileSync(join(directory, name), 'x')
  const release = taken(lock.path)
  assert.deepEqual(lock.files(), [...kept, 'state.lock'].sort())
  release()
})

const STALE: Readonly<Record<string, string>> = {
  'is of an earlier process with the same number': `${process.pid} 1 ${bootId()}`,
  'was written before the last boot': readMarkWith('another-boot'),
  'is empty': '',
  'has other content': 'rubbish\0',
  'has an impossible process number': '-1 x y',
}

function readMarkWith(boot: string): string {
  using lock = lockFile()
  const release = taken(lock.path)
  const mark = readFileSync(lock.path, 'utf8')
  release()
  return mark.replace(bootId(), boot)
}

for (const [what, mark] of Object.entries(STALE)) {
  test(`a lock that ${what} is taken over`, () => {
    using lock = lockFile()
    writeFileSync(lock.path, mark)
    taken(lock.path)()
    assert.ok(!existsSync(lock.path))
  })
}

test('of many processes that find the lock of an ended one, one takes it', async () => {
  using lock = lockFile()
  writeFileSync(lock.path, '1 1 ended')
  const program = `const { takeProcessLock } = await import(${JSON.stringify(join(import.meta.dirname, 'process-lock.ts'))})
    process.stdin.once('data', () => {
      console.log(typeof takeProcessLock(${JSON.stringify(lock.path)}) === 'function' ? 'taken' : 'held')
    })
    process.stdin.on('end', () => process.exit()); console.log('ready')`
  const children = Array.from({ length: 6 }, () =>
    spawn(process.execPath, ['--input-type=module', '--eval', program]),
  )
  using stack = new DisposableStack()
  for (const child of children) stack.defer(() => child.kill())
  await Promise.all(children.map((child) => once(child.stdout, 'data')))
  const answers = children.map(async (child) => String((await once(child.stdout, 'data'))[0]).trim())
  for (const child of children) child.stdin.write('go\n')
  const outcome = await Promise.all(answers)
  assert.equal(outcome.filter((each) => each === 'taken').length, 1, outcome.join(' '))
  for (const child of children) child.stdin.end()
  await Promise.all(children.map((child) => once(child, 'close')))
})
