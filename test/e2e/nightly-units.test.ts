import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { unitsFor } from '../../programs/backup/install/units.ts'
import { INSTALL_SETTINGS } from '../support/install-world.ts'
import { temporaryDirectory } from '../support/platform.ts'

// systemd-analyze complains about a program that does not exist.
const PROGRAM = {
  command: [process.execPath, '/opt/platform/bin/platform.mjs'],
  configFile: undefined,
  workingDirectory: '/',
}
const BARE = { ...INSTALL_SETTINGS, clean: ['journal'], textfile: '/var/lib/node_exporter/my metrics.prom' }

function analyze(...args: string[]) {
  const { status, stdout, stderr } = spawnSync('systemd-analyze', ['--no-pager', ...args], {
    encoding: 'utf8',
  })
  return { status, output: stdout + stderr }
}

function unitFiles(directory: string, settings: typeof INSTALL_SETTINGS): string[] {
  const units = unitsFor(settings, PROGRAM)
  for (const { name, text } of units) writeFileSync(join(directory, name), text)
  return units.map(({ name }) => join(directory, name))
}

for (const [what, settings] of [
  ['the default settings', INSTALL_SETTINGS],
  ['few cleaning steps and a textfile', BARE],
] as const)
  test(`systemd accepts the units for ${what} without a message`, () => {
    using directory = temporaryDirectory()
    const { status, output } = analyze(
      'verify',
      '--recursive-errors=one',
      ...unitFiles(directory.path, settings),
    )
    assert.deepEqual([status, output.trim()], [0, ''])
  })

// Out of 10; what keeps the night from less is explained in its unit.
for (const [name, settings, limit] of [
  ['platform-backup.service', INSTALL_SETTINGS, 5],
  ['platform-backup-retry.service', BARE, 4],
  ['platform-backup-drill.service', INSTALL_SETTINGS, 3],
  ['platform-backup-selfcheck.service', INSTALL_SETTINGS, 3],
] as const)
  test(`the exposure of ${name} is below ${limit} of 10`, () => {
    using directory = temporaryDirectory()
    const file = unitFiles(directory.path, settings).find((path) => path.endsWith(`/${name}`)) ?? ''
    const { output } = analyze('security', '--offline=true', file)
    assert.ok(Number(/exposure level for \S+: ([\d.]+)/.exec(output)?.[1]) < limit, output)
  })
