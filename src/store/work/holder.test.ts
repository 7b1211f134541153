import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { missingForSandbox } from '../../../test/support/hosts/sandbox.ts'
import { startZombie } from '../../../test/support/zombie.ts'
import { isDeadHolder, newHolder } from './holder.ts'

/** A holder in another process of this host. */
function holderIn(pid: number | string): string {
  const [host, , id] = newHolder().split('/')
  return [host, pid, id].join('/')
}

test('a holder of an ended process that had the number of this one is dead', () => {
  const own = newHolder()
  assert.equal(isDeadHolder(own), false)
  assert.equal(isDeadHolder(`${own}, of a process before`), true)
})

test('holders in this process and in running ones are alive', () => {
  assert.equal(isDeadHolder(newHolder()), false)
  assert.equal(isDeadHolder(holderIn(process.ppid)), false)
})

test('a holder whose process has ended is dead', () => {
  const { pid } = spawnSync('true')
  assert.equal(isDeadHolder(holderIn(pid)), true)
})

test('a holder whose process is a zombie is dead', async () => {
  await using zombie = await startZombie()
  assert.equal(isDeadHolder(holderIn(zombie.pid)), true)
})

test('holders on other hosts, and those that name no process, count as alive', () => {
  const { pid } = spawnSync('true')
  for (const holder of [`other-host/${pid}/x`, holderIn('x'), 'x']) assert.equal(isDeadHolder(holder), false)
})

// As systemd.exec(5) mounts it for ProcSubset=pid.
const WITHOUT_BOOT_ID = 'mount -t proc -o subset=pid proc /proc && exec "$@"'
const PRINT_ENDS = `
  const { newHolder, isDeadHolder, hasEndedHere } = await import(process.argv[1])
  const [host] = newHolder().split('/')
  console.log(isDeadHolder(host + '/999999/x'), hasEndedHere(host + '/999999/x'))`

test(
  'where the boot of the host is unknown, a process that cannot be found may be that of another host of this name',
  { skip: missingForSandbox([{ command: 'unshare', package: 'util-linux' }]) ?? false },
  () => {
    const module = new URL('holder.ts', import.meta.url).href
    const script = [process.execPath, '--input-type=module', '-e', PRINT_ENDS, module]
    const { stdout } = spawnSync('unshare', ['-Urmpf', 'sh', '-c', WITHOUT_BOOT_ID, 'sh', ...script], {
      encoding: 'utf8',
    })
    assert.equal(stdout, 'false true\n')
  },
)
