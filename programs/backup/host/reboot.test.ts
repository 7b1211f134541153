import assert from 'node:assert/strict'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { failing, missing, recordingShell, type ShellScript } from '../../../test/support/backup-host.ts'
import { DryRunShell } from './dry-run-shell.ts'
import { drainAndReboot } from './reboot.ts'

async function reboot(script: ShellScript, units?: readonly string[]) {
  const shell = recordingShell(script)
  const log: string[] = []
  const command = ['systemctl', 'reboot']
  const failure = await drainAndReboot({
    shell,
    command,
    log: (line) => log.push(line),
    ...(units && { units }),
  })
  return { failure, log, commands: shell.commands }
}

describe('the reboot', () => {
  it('comes after the platform has stopped', async () => {
    assert.deepEqual(await reboot({}), {
      failure: undefined,
      log: ['stopped platform.service'],
      commands: [
        'systemctl is-active --quiet platform.service',
        'systemctl stop platform.service',
        'systemctl reboot',
      ],
    })
  })

  it('comes, too, when there is nothing to stop', async () => {
    const { failure, log, commands } = await reboot({
      'systemctl is-active': failing('systemctl: exit code 3'),
    })
    assert.equal(failure, undefined)
    assert.deepEqual(log, ['platform.service is not active, so it is not stopped (systemctl: exit code 3)'])
    assert.equal(commands.at(-1), 'systemctl reboot')
  })

  it('comes, too, when the platform does not stop', async () => {
    const { failure, log, commands } = await reboot({
      'systemctl stop': failing('systemctl: no end within 180 s'),
    })
    assert.equal(failure, undefined)
    assert.deepEqual(log, ['platform.service could not be stopped: systemctl: no end within 180 s'])
    assert.equal(commands.at(-1), 'systemctl reboot')
  })

  it('that fails is reported, and the platform runs again', async () => {
    const { failure, log, commands } = await reboot(
      { 'systemctl reboot': failing('systemctl: exit code 1: Access denied') },
      ['a.service', 'b.service'],
    )
    assert.equal(failure, 'systemctl: exit code 1: Access denied')
    assert.deepEqual(commands.slice(-2), ['systemctl start b.service', 'systemctl start a.service'])
    assert.deepEqual(log.slice(-2), ['started b.service again', 'started a.service again'])
  })

  it('that fails starts no unit that did not run, and says when one does not start', async () => {
    const { failure, log } = await reboot(
      {
        'systemctl is-active --quiet a.service': failing('systemctl: exit code 3'),
        'systemctl start b.service': failing('systemctl: exit code 1'),
        'systemctl reboot': missing('systemctl'),
      },
      ['a.service', 'b.service'],
    )
    assert.equal(failure, 'systemctl is not installed')
    assert.equal(log.at(-1), 'b.service is not running: systemctl: exit code 1')
    assert.ok(!log.some((line) => line.includes('started a.service')))
  })

  it('is printed in a dry run', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'reboot-'))
    writeFileSync(join(directory, 'systemctl'), '')
    chmodSync(join(directory, 'systemctl'), 0o755)
    const lines: string[] = []
    const print = (line: string) => void lines.push(line)
    const shell = new DryRunShell({ reader: recordingShell(), print, path: directory })
    assert.equal(
      await drainAndReboot({ shell, command: ['systemctl', 'reboot'], log: () => undefined }),
      undefined,
    )
    assert.deepEqual(lines, ['would run: systemctl stop platform.service', 'would run: systemctl reboot'])
    rmSync(directory, { recursive: true })
  })
})
