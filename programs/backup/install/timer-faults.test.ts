import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { temporaryDirectory } from '../../../test/support/platform.ts'
import { loadConfig } from '../../../src/config/config.ts'
import { installSettingsOf } from './from-config.ts'
import { timerFaults } from './timer-faults.ts'
import { unitsFor } from './units.ts'

const TIMER = 'platform-backup.timer'
const PROGRAM = { command: ['/usr/bin/platform'], configFile: undefined, workingDirectory: '/' }

function settings(env: Readonly<Record<string, string>>) {
  return installSettingsOf(loadConfig({ env, cwd: '/', systemConfigPath: '/nowhere' }).config)
}

test('a timer of another zone, or of a former configuration, is named with the command that mends it', () => {
  using directory = temporaryDirectory()
  const berlin = settings({ BACKUP_TIME_ZONE: 'Europe/Berlin' })
  const faults = (wanted = berlin, localZone = 'Etc/UTC') =>
    timerFaults(wanted, directory.path, localZone).map(({ name, calendar, remedy }) => [
      name,
      calendar[0],
      remedy,
    ])
  assert.deepEqual(faults(), [], 'none is installed')
  const units = unitsFor(berlin, PROGRAM).filter(({ name }) => name.endsWith('.timer'))
  for (const { name, text } of units) writeFileSync(join(directory.path, name), text)
  assert.deepEqual(faults(), [])
  const again = 'run as root: platform backup install'
  assert.deepEqual(
    faults(settings({ BACKUP_TIME_ZONE: 'Asia/Shanghai' })).map(([name, , remedy]) => [name, remedy]),
    units.map(({ name }) => [name, again]),
  )
  assert.deepEqual(faults(settings({ BACKUP_TIME_ZONE: 'Europe/Berlin', BACKUP_WINDOW_START: '03:00' }))[0], [
    TIMER,
    '*-*-* 02:00:00 Europe/Berlin',
    again,
  ])
})

test('a drop-in and a timer of a person may choose the times, in the zone of the configuration', () => {
  using directory = temporaryDirectory()
  const shanghai = settings({ BACKUP_TIME_ZONE: 'Asia/Shanghai' })
  const [path, dropIn] = [join(directory.path, TIMER), join(directory.path, `${TIMER}.d`, 'own.conf')]
  const faults = (localZone: string) =>
    timerFaults(shanghai, directory.path, localZone).map(({ calendar, remedy }) => [calendar, remedy])
  writeFileSync(path, '[Timer]\nOnCalendar=*-*-* 02:30\n')
  assert.deepEqual(faults('Asia/Shanghai'), [])
  assert.deepEqual(faults('Etc/UTC'), [
    [['*-*-* 02:30'], `the file was changed by hand; run as root: rm ${path} && platform backup install`],
  ])
  mkdirSync(join(directory.path, `${TIMER}.d`))
  for (const sign of ['=', ' = '])
    for (const indent of ['', '  ']) {
      const line = `${indent}OnCalendar${sign}`
      writeFileSync(dropIn, `[Timer]\n${line}\n${line}*-*-* 02:30 UTC\n`)
      assert.deepEqual(faults('Asia/Shanghai'), [
        [['*-*-* 02:30 UTC'], `correct OnCalendar in ${dropIn}, then run as root: systemctl daemon-reload`],
      ])
    }
  writeFileSync(dropIn, '[Timer]\nOnCalendar=\nOnCalendar=*-*-* 02:30 PRC\n')
  assert.deepEqual(faults('Etc/UTC'), [], 'another name of the zone')
})
