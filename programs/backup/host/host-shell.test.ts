import assert from 'node:assert/strict'
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { eventually } from '../../../test/support/eventually.ts'
import { fakeWaitingClock } from '../../../test/support/waiting-clock.ts'
import { systemClock } from '../../../src/kernel/clock.ts'
import { MINUTE, SECOND } from '../../../src/kernel/time.ts'
import { DryRunShell, HostShell } from './host-shell.ts'
import { formatCommand, type CommandOutcome } from './shell.ts'

const shell = new HostShell({ clock: systemClock, path: process.env['PATH'] })

function outputOf(outcome: CommandOutcome): string {
  assert.equal(outcome.status, 'succeeded')
  return outcome.status === 'succeeded' ? outcome.output : ''
}

function reasonOf(outcome: CommandOutcome): string {
  assert.notEqual(outcome.status, 'succeeded')
  return outcome.status === 'succeeded' ? '' : outcome.reason
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

describe('a command of the host', () => {
  it('gets its arguments as they are, and no variable but the search path, the home and the language', async () => {
    process.env['CANARY_TOKEN'] = 'canary-of-the-shell'
    const text = '; $(id) `id` -- \n "{x}" \\ *'
    const script = 'process.stdout.write(JSON.stringify([process.argv.slice(1), process.env]))'
    const outcome = await shell.run([process.execPath, '-e', script, '--', text])
    const [argv, environment] = JSON.parse(outputOf(outcome)) as [string[], Record<string, string>]
    assert.deepEqual(argv, [text])
    assert.deepEqual(Object.keys(environment).toSorted(), ['HOME', 'LC_ALL', 'PATH'])
  })

  it('that does not exist is missing', async () => {
    const outcome = await shell.run(['no-such-program-anywhere', 'x'])
    assert.deepEqual(outcome, { status: 'missing', reason: 'no-such-program-anywhere is not installed' })
  })

  it('that is no command is a failure', async () => {
    assert.equal((await shell.run([])).status, 'failed')
    assert.equal((await shell.run(['a\0b'])).status, 'failed')
    assert.equal((await shell.run(['/etc/hostname'])).status, 'failed')
  })

  it('that fails is reported with its exit code and its last line, without control characters', async () => {
    const outcome = await shell.run(['sh', '-c', String.raw`printf 'first\nlast \033[31mred\n' >&2; exit 3`])
    assert.equal(reasonOf(outcome), 'sh: exit code 3: last  [31mred')
  })

  it('that is killed from outside says by which signal', async () => {
    const outcome = await shell.run(['sh', '-c', 'kill -KILL $$'])
    assert.equal(reasonOf(outcome), 'sh: killed by SIGKILL')
  })

  it('keeps only the end of a long output', async () => {
    const output = outputOf(await shell.run(['sh', '-c', 'head -c 3000000 /dev/zero; echo end']))
    assert.equal(output.length, 64 * 1_024)
    assert.ok(output.endsWith('end\n'))
  })

  it('that takes too long is terminated with its children, and killed if it does not end', async () => {
    const clock = fakeWaitingClock()
    const slow = new HostShell({ clock, path: process.env['PATH'] })
    const directory = mkdtempSync(join(tmpdir(), 'host-shell-'))
    const ready = join(directory, 'ready')
    const script = `trap '' TERM; sleep 1000 & echo $! > ${ready}.new; mv ${ready}.new ${ready}; while :; do wait; done`
    const running = slow.run(['sh', '-c', script], { timeoutMs: 2 * MINUTE })
    const child = await eventually('the child has started', () => Number(readFileSync(ready, 'utf8')))
    await clock.pass(2 * MINUTE)
    await clock.pass(5 * SECOND)
    assert.equal(reasonOf(await running), 'sh: no end within 120 s')
    await eventually('the child has ended', () => !isAlive(child))
    rmSync(directory, { recursive: true })
  })

  it('is ended by the signal', async () => {
    const stop = new AbortController()
    const running = shell.run(['sleep', '1000'], { signal: stop.signal })
    stop.abort()
    assert.equal(reasonOf(await running), 'sleep: interrupted')
  })

  it('does not wait for a process that it has left behind', async () => {
    const clock = fakeWaitingClock()
    const running = new HostShell({ clock, path: process.env['PATH'] }).run([
      'sh',
      '-c',
      'sleep 1000 & echo $!',
    ])
    await clock.pass(SECOND)
    const pid = Number(outputOf(await running))
    assert.ok(isAlive(pid))
    process.kill(pid)
  })
})

describe('the shell of a dry run', () => {
  const directory = mkdtempSync(join(tmpdir(), 'dry-run-shell-'))
  const program = join(directory, 'clean-it')
  writeFileSync(program, `#!/bin/sh\ntouch ${directory}/touched\n`)
  chmodSync(program, 0o755)
  const lines: string[] = []
  const dryRun = new DryRunShell({ reader: shell, print: (line) => lines.push(line), path: directory })

  it('prints the commands that change something, and reads', async () => {
    assert.deepEqual(await dryRun.run(['clean-it', "it's all"]), { status: 'succeeded', output: '' })
    assert.deepEqual(await dryRun.run([program]), { status: 'succeeded', output: '' })
    assert.deepEqual(lines, [String.raw`would run: clean-it 'it'\''s all'`, `would run: ${program}`])
    assert.equal((await dryRun.ask(['sh', '-c', `test ! -e ${directory}/touched`])).status, 'succeeded')
    rmSync(directory, { recursive: true })
  })

  it('knows which programs are missing', async () => {
    assert.equal((await dryRun.run(['no-such-program'])).status, 'missing')
    assert.equal((await dryRun.run(['/no/such/program'])).status, 'missing')
  })
})

it('formats a command as it could be typed', () => {
  assert.equal(formatCommand(['rm', '-f', 'a b', '', "'"]), String.raw`rm -f 'a b' '' ''\'''`)
})
