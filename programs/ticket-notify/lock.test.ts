import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  existsSync,
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
import { bootId, takeLock, type Release } from './lock.ts'

function lockFile() {
  const directory = mkdtempSync(join(tmpdir(), 'platform-lock-'))
  return {
    path: join(directory, 'state.lock'),
    files: () => readdirSync(directory).sort(),
    [Symbol.dispose]: () => rmSync(directory, { recursive: true, force: true }),
  }
}

function taken(path: string): Release {
  const lock = takeLock(path)
  return typeof lock === 'function' ? lock : assert.fail(`held by ${lock.heldBy}`)
}

test('a lock that is free is taken, and one that is let go can be taken again', () => {
  using lock = lockFile()
  const release = taken(lock.path)
  assert.deepEqual(lock.files(), ['state.lock'])
  release()
  release()
  assert.deepEqual(lock.files(), [])
  taken(lock.path)()
})

test("who lets go twice takes away nobody else's lock", () => {
  using lock = lockFile()
  const release = taken(lock.path)
  release()
  writeFileSync(lock.path, "another one's")
  release()
  assert.ok(existsSync(lock.path))
})

test('a lock that is held names its holder', () => {
  using lock = lockFile()
  const release = taken(lock.path)
  assert.deepEqual(takeLock(lock.path), { heldBy: process.pid })
  release()
})

test('the lock of a process that was killed is taken over', async () => {
  using lock = lockFile()
  const program = `const { takeLock } = await import(${JSON.stringify(join(import.meta.dirname, 'lock.ts'))})
    takeLock(${JSON.stringify(lock.path)}); console.log('taken'); setInterval(() => {}, 1000)`
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program])
  await once(child.stdout, 'data')
  assert.deepEqual(takeLock(lock.path), { heldBy: child.pid })
  child.kill('SIGKILL')
  await once(child, 'close')
  taken(lock.path)()
  assert.deepEqual(lock.files(), [])
})

test('a lock that there is no room for leaves nothing behind', () => {
  using lock = lockFile()
  symlinkSync('/dev/full', `${lock.path}.${process.pid}`)
  assert.throws(() => takeLock(lock.path), { code: 'ENOSPC' })
  assert.deepEqual(lock.files(), [])
})

test('what a round that was killed while it took the lock has left is taken away, what others do is not', () => {
  using lock = lockFile()
  const dead = 4_194_305 // above the highest number that a process can have
  const directory = dirname(lock.path)
  const kept = [`state.lock.${process.ppid}`, 'state.lock.old', `other.lock.${dead}`]
  const names = [`state.lock.${dead}`, `state.lock.${dead}.dead`, ...kept]
  for (const name of names) writeFileSync(join(directory, name), 'x')
  const release = taken(lock.path)
  assert.deepEqual(lock.files(), [...kept, 'state.lock'].sort())
  release()
})

const STALE: Readonly<Record<string, string>> = {
  'names this process as it was before it began': `${process.pid} 1 ${bootId()}`,
  'was written before the last boot': readMarkWith('another-boot'),
  'is empty': '',
  'holds rubbish': 'rubbish\0',
  'names no possible process': '-1 x y',
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

test('of many processes that find a dead lock at once, one gets it', async () => {
  using lock = lockFile()
  writeFileSync(lock.path, '1 1 dead')
  const program = `const { takeLock } = await import(${JSON.stringify(join(import.meta.dirname, 'lock.ts'))})
    process.stdin.once('data', () => {
      console.log(typeof takeLock(${JSON.stringify(lock.path)}) === 'function' ? 'taken' : 'held')
    })
    process.stdin.on('end', () => process.exit()); console.log('ready')`
  const children = Array.from({ length: 6 }, () =>
    spawn(process.execPath, ['--input-type=module', '--eval', program]),
  )
  await Promise.all(children.map((child) => once(child.stdout, 'data')))
  const answers = children.map(async (child) => String((await once(child.stdout, 'data'))[0]).trim())
  for (const child of children) child.stdin.write('go\n')
  const outcome = await Promise.all(answers)
  assert.equal(outcome.filter((each) => each === 'taken').length, 1, outcome.join(' '))
  for (const child of children) child.stdin.end()
  await Promise.all(children.map((child) => once(child, 'close')))
})
