import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { chownSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { loadConfig } from '../../config/config.ts'
import { doctorParts } from './doctor.ts'
import { serviceCheck } from './checks/service.ts'
import { hasUser, mayAccess, readServiceUnits, readServiceUser, type RunProgram } from './service.ts'

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

const PLACES = { configFile: '/etc/platform/platform.toml', dataDir: '/' }

type Places = typeof PLACES & { readonly processIds?: readonly number[] }

async function readUser({ configFile, ...places }: Places, run: RunProgram) {
  return readServiceUser({ ...places, units: await readServiceUnits(configFile, run) }, run)
}
const UNIT =
  'User=platform\nExecStart={ path=/usr/bin/platform ; argv[]=/usr/bin/platform serve --config /etc/platform/platform.toml ; ignore_errors=no }\n'

/** The programs of a host with this unit, on which the user platform is 990. */
function host(unit: string | undefined): RunProgram {
  return async (name, [option, user]) => {
    if (name === 'systemctl') return unit
    if (user === '0' || user === 'root') return '0\n'
    return option === '-u' ? '990\n' : '990 4\n'
  }
}

test('the user of the service is that of the unit which has the configuration', async () => {
  assert.deepEqual(await readUser(PLACES, host(UNIT)), { uid: 990, gids: [990, 4] })
})

test('the unit may have any name, and one without a user is that of root', async () => {
  const units = `User=other\nExecStart={ argv[]=/bin/other ; }\n\n${UNIT}`
  assert.equal((await readUser(PLACES, host(units)))?.uid, 990)
  // The nightly routine reads the same configuration, as root.
  const night = `${UNIT.replace('User=platform\n', '').replace(' serve ', ' backup run --scheduled ')}\n${UNIT}`
  assert.equal((await readUser(PLACES, host(night)))?.uid, 990)
  const ofRoot = UNIT.replace('User=platform\n', '')
  assert.equal((await readUser(PLACES, async (name) => (name === 'systemctl' ? ofRoot : '0\n')))?.uid, 0)
})

test('without such a unit it is the user of a running process, or the owner of the data directory', async (t) => {
  const own = { ...PLACES, configFile: '/home/ada/platform.toml', processIds: [0, process.pid] }
  assert.equal((await readUser(own, host(UNIT)))?.uid, process.getuid?.() === 0 ? 0 : 990)
  const dataDir = mkdtempSync(join(tmpdir(), 'service-user-'))
  t.after(() => rmSync(dataDir, { recursive: true }))
  if (process.getuid?.() === 0) chownSync(dataDir, 65_534, 65_534)
  assert.equal((await readUser({ ...PLACES, dataDir }, host(undefined)))?.uid, 990)
})

test('root may own the data directory because it has copied it: the user is not known then', async () => {
  assert.equal(await readUser(PLACES, host(undefined)), undefined)
  assert.equal(await readUser({ ...PLACES, dataDir: '/nowhere' }, host(undefined)), undefined)
})

test('a numeric user without an entry in the list of users has the group of the data', async () => {
  const nobody = 'User=4242\n' + UNIT.slice(UNIT.indexOf('ExecStart'))
  const run: RunProgram = async (name) => (name === 'systemctl' ? nobody : undefined)
  assert.deepEqual(await readUser(PLACES, run), { uid: 4242, gids: [0] })
  assert.deepEqual(await readUser({ ...PLACES, dataDir: '/nowhere' }, run), { uid: 4242, gids: [] })
})

test('a user is known by its name, and a number needs none', async () => {
  assert.deepEqual(
    [await hasUser('platform', host(UNIT)), await hasUser('4242', async () => undefined)],
    [true, true],
  )
  assert.equal(await hasUser('platform', async () => undefined), false)
})

test('a permission comes from the class of the user: owner, group, others', () => {
  const user = { uid: 990, gids: [990, 4] }
  const may = (uid: number, gid: number, mode: number) => mayAccess(user, { uid, gid, mode }, 4)
  assert.deepEqual(
    [may(990, 0, 0o100_400), may(990, 4, 0o044), may(0, 4, 0o640), may(0, 0, 0o640), may(0, 0, 0o644)],
    [true, false, true, false, true],
  )
})
