import assert from 'node:assert/strict'
import { test } from 'node:test'
import { mayAccess, readServiceUser, type RunProgram } from './service-user.ts'

const PLACES = { configFile: '/etc/platform/platform.toml', dataDir: '/' }
const UNIT =
  'User=platform\nExecStart={ path=/usr/bin/platform ; argv[]=/usr/bin/platform serve --config /etc/platform/platform.toml ; ignore_errors=no }\n'

/** The programs of a host with this unit, on which the user platform is 990. */
function host(unit: string | undefined): RunProgram {
  return async (name, [option, user]) => {
    if (name === 'systemctl') return unit
    if (user === '0') return '0\n'
    return option === '-u' ? '990\n' : '990 4\n'
  }
}

test('the user of the service is that of the unit which has the configuration', async () => {
  assert.deepEqual(await readServiceUser(PLACES, host(UNIT)), { uid: 990, gids: [990, 4] })
})

test('without such a unit it is the owner of the data directory', async () => {
  const root = { uid: 0, gids: [0] }
  assert.deepEqual(await readServiceUser(PLACES, host(undefined)), root)
  const other = { ...PLACES, configFile: '/home/ada/platform.toml' }
  assert.deepEqual(await readServiceUser(other, host(UNIT)), root)
  assert.equal(await readServiceUser({ ...PLACES, dataDir: '/nowhere' }, host(undefined)), undefined)
})

test('a numeric user without an entry in the list of users has the group of the data', async () => {
  const nobody = 'User=4242\n' + UNIT.slice(UNIT.indexOf('ExecStart'))
  const run: RunProgram = async (name) => (name === 'systemctl' ? nobody : undefined)
  assert.deepEqual(await readServiceUser(PLACES, run), { uid: 4242, gids: [0] })
  assert.deepEqual(await readServiceUser({ ...PLACES, dataDir: '/nowhere' }, run), { uid: 4242, gids: [] })
})

test('a permission comes from the class of the user: owner, group, others', () => {
  const user = { uid: 990, gids: [990, 4] }
  const may = (uid: number, gid: number, mode: number) => mayAccess(user, { uid, gid, mode }, 4)
  assert.deepEqual(
    [may(990, 0, 0o100_400), may(990, 4, 0o044), may(0, 4, 0o640), may(0, 0, 0o640), may(0, 0, 0o644)],
    [true, false, true, false, true],
  )
})
