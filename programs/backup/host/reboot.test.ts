import assert from 'node:assert/strict'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import {
  failing,
  missing,
  printing,
  recordingShell,
  type ShellScript,
} from '../../../test/support/backup-host.ts'
import { DryRunShell } from './host-shell.ts'
import { drainAndReboot } from './reboot.ts'

const LIST = 'systemctl list-units'
const ONE_UNIT = { [LIST]: unitList('platform.service') }
const THREE_UNITS = {
  [LIST]: unitList('platform@api.service', 'platform@gateway.service', 'platform@worker.service'),
}

/** What `systemctl list-units` prints. */
function unitList(...units: readonly string[]) {
  return printing(units.map((unit) => `  ${unit} loaded active running Backend platform\n`).join(''))
}

async function reboot(script: ShellScript) {
  const shell = recordingShell(script)
  const log: string[] = []
  const command = ['systemctl', 'reboot']
  const failure = await drainAndReboot({ shell, command, log: (line) => log.push(line) })
  return { failure, log, commands: shell.commands }
}

describe('the reboot', () => {
  it('comes after the platform has stopped', async () => {
    assert.deepEqual(await reboot(ONE_UNIT), {
      failure: undefined,
      log: ['stopped platform.service'],
      commands: [
        'systemctl list-units --plain --no-legend --state=active,reloading platform.service platform@*.service',
        'systemctl stop platform.service',
        'systemctl reboot',
      ],
    })
  })

  it('comes after each module has stopped, the gateway first', async () => {
    const { commands } = await reboot(THREE_UNITS)
    assert.deepEqual(commands.slice(1), [
      'systemctl stop platform@gateway.service',
      'systemctl stop platform@api.service',
      'systemctl stop platform@worker.service',
      'systemctl reboot',
    ])
  })

  for (const [listed, reason] of [
    [printing(''), 'systemctl lists none'],
    [failing('systemctl: exit code 1'), 'systemctl: exit code 1'],
  ] as const)
    it(`comes, too, when there is nothing to stop: ${reason}`, async () => {
      const { failure, log, commands } = await reboot({ [LIST]: listed })
      assert.equal(failure, undefined)
      assert.deepEqual(log, [`no unit of the platform is active, so none is stopped (${reason})`])
      assert.deepEqual(commands.slice(1), ['systemctl reboot'])
    })

  it('comes, too, when the platform does not stop', async () => {
    const stop = failing('systemctl: no end within 180 s')
    const { failure, log, commands } = await reboot({ ...ONE_UNIT, 'systemctl stop': stop })
    assert.equal(failure, undefined)
    assert.deepEqual(log, ['platform.service could not be stopped: systemctl: no end within 180 s'])
    assert.equal(commands.at(-1), 'systemctl reboot')
  })

  it('that fails is reported, and the platform runs again', async () => {
    const { failure, log, commands } = await reboot({
      ...THREE_UNITS,
      'systemctl reboot': failing('systemctl: exit code 1: Access denied'),
    })
    assert.equal(failure, 'systemctl: exit code 1: Access denied')
    const started = ['worker', 'api', 'gateway'].map((name) => `platform@${name}.service`)
    assert.deepEqual(
      commands.slice(-3),
      started.map((unit) => `systemctl start ${unit}`),
    )
    assert.deepEqual(
      log.slice(-3),
      started.map((unit) => `started ${unit} again`),
    )
  })

  it('that fails starts no unit that did not run, and says when one does not start', async () => {
    const { failure, log, commands } = await reboot({
      ...ONE_UNIT,
      'systemctl start': failing('systemctl: exit code 1'),
      'systemctl reboot': missing('systemctl'),
    })
    assert.equal(failure, 'systemctl is not installed')
    assert.equal(log.at(-1), 'platform.service is not running: systemctl: exit code 1')
    assert.equal(commands.filter((command) => command.includes(' start ')).length, 1)
  })

  it('is printed in a dry run', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'reboot-'))
    writeFileSync(join(directory, 'systemctl'), '')
    chmodSync(join(directory, 'systemctl'), 0o755)
    const lines: string[] = []
    const print = (line: string) => void lines.push(line)
    const shell = new DryRunShell({ reader: recordingShell(ONE_UNIT), print, path: directory })
    assert.equal(
      await drainAndReboot({ shell, command: ['systemctl', 'reboot'], log: () => undefined }),
      undefined,
    )
    assert.deepEqual(lines, ['would run: systemctl stop platform.service', 'would run: systemctl reboot'])
    rmSync(directory, { recursive: true })
  })
})
