import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { test } from 'node:test'
import { loadConfig } from '../../config/config.ts'
import { doctorParts } from './doctor.ts'
import { serviceCheck } from './checks/service.ts'
import { readServiceUnits } from './service-unit.ts'

const CONFIG = '/etc/platform/platform.toml'
const EXEC = `{ path=/usr/bin/platform ; argv[]=/usr/bin/platform serve --config ${CONFIG} ; ignore_errors=no }`
const RUNNING = {
  Id: 'platform.service',
  User: 'platform',
  ExecStart: EXEC,
  ActiveState: 'active',
  SubState: 'running',
  Result: 'success',
  ExecMainStatus: '0',
  NRestarts: '1',
  UnitFileState: 'enabled',
  ProtectSystem: 'strict',
  StateDirectory: 'platform',
  ReadWritePaths: '',
}

/** As `systemctl show` prints it. */
const shown = (unit: object) =>
  Object.entries(unit)
    .map(([key, value]) => `${key}=${value}\n`)
    .join('')

async function examine(unit: object, dataDir = '/var/lib/platform') {
  const loaded = loadConfig({ env: { DATA_DIR: dataDir }, cwd: '/', systemConfigPath: '/nowhere' })
  const text = shown({ ...RUNNING, ...unit })
  const units = await readServiceUnits(CONFIG, async () => `${text}\n${text}`)
  const parts = { ...doctorParts(loaded, {}), units: async () => units }
  return serviceCheck.run({ ...parts, hasUser: async (user) => user === 'platform' })
}

const CASES: readonly (readonly [name: string, unit: object, expected: RegExp])[] = [
  ['a unit that runs', {}, /^ok active \(running\)$/],
  [
    'a unit whose program cannot be started',
    { ActiveState: 'failed', SubState: 'failed', Result: 'exit-code', ExecMainStatus: '203' },
    /^error has failed \(exit-code, status 203\) .*journalctl -u platform\.service -n 20; then run: systemctl start/,
  ],
  [
    'a unit that ends after each start',
    { ActiveState: 'activating', SubState: 'auto-restart', Result: 'exit-code', ExecMainStatus: '1' },
    /^error ends soon after each start \(exit-code, status 1\)/,
  ],
  [
    'a unit that is killed again and again',
    { NRestarts: '12' },
    /^warning has ended by itself, and was started again, 12 times .*oom/,
  ],
  [
    'a stopped unit',
    { ActiveState: 'inactive', SubState: 'dead' },
    /^warning .*does not run run: systemctl start platform\.service$/,
  ],
  [
    'a unit that is not used',
    { ActiveState: 'inactive', SubState: 'dead', UnitFileState: 'disabled' },
    /^skipped is stopped/,
  ],
]

for (const [name, unit, expected] of CASES)
  test(`the service check names ${name}`, async () => {
    const [finding, ...others] = await examine(unit)
    assert.match(`${finding?.result} ${finding?.detail} ${finding?.remedy ?? ''}`.trim(), expected)
    assert.deepEqual(others, [])
  })

test('a unit whose user is gone, and one that may not write its data, are named with what to do', async () => {
  const [, lost] = await examine({ User: 'gone' })
  assert.match(
    `${lost?.detail} ${lost?.remedy}`,
    /^runs as the user gone, .*adduser .* gone, as the package does/,
  )
  const dataDir = "/srv/ada's data"
  const [, readOnly] = await examine({}, dataDir)
  assert.match(String(readOnly?.detail), /does not let it write to .*ada's data \(ProtectSystem=strict\)$/)
  const [, write = ''] = String(readOnly?.remedy).split(' && ')
  assert.equal(
    execFileSync('sh', ['-c', write.replace(/ > .*/, '')], { encoding: 'utf8' }),
    `[Service]\nReadWritePaths="${dataDir}"\n`,
  )
  for (const unit of [{ ReadWritePaths: '-/opt/x /srv' }, { ProtectSystem: 'full' }])
    assert.equal((await examine(unit, '/srv/data')).length, 1)
})
