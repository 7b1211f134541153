import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import type { Figures, Scenario, Trial } from './support/scenario.ts'
import type { Measurements, WorldOptions } from './two-servers/world.ts'

// One round is one client.
const FULL = 1_000
const WORLD = join(import.meta.dirname, 'two-servers/world.ts')
// All its processes end with it, and its network and its mounts vanish.
const UNSHARE = '--pdeathsig KILL unshare -Urmnpf --kill-child --mount-proc --propagation private'.split(' ')
const SANDBOX = [...UNSHARE, 'bash', '-c', 'mount -t tmpfs tmpfs /run; "$@"; exit $?', 'two-servers']
// Each second of the histogram that is shown; the rest is one column.
const COLUMNS = [1, 2, 5, 10, 20, 40, 60]

export const twoServers: Scenario = {
  name: 'two-servers',
  row: 'R-22',
  promise:
    'clients change to the standby while the primary is away, and come back; a disabled user stays out',
  unit: 'clients',
  rounds: { short: 12, full: FULL },
  unsupported: () => {
    const probe = spawnSync('unshare', ['-Urn', 'ip', 'link', 'set', 'lo', 'up'])
    return probe.status === 0 ? undefined : 'it needs user and network namespaces, and the program ip'
  },
  parts: [
    { title: 'the primary is stopped and started', run: (trial) => measure(trial, 'stopped') },
    { title: 'the primary is cut off', run: (trial) => measure(trial, 'cut off') },
    { title: 'the primary loses its power and boots', run: (trial) => measure(trial, 'rebooted') },
  ],
}

async function measure(
  { rounds: clients, signal, show }: Trial,
  fault: WorldOptions['fault'],
): Promise<Figures> {
  show(`${clients} clients`)
  const heartbeat = clients < FULL ? '2s' : '30s'
  const { away, back, disabledMs, othersEnded, disabledAccepted } = await runWorld(
    { fault, clients, heartbeat },
    signal,
  )
  assert.equal(away.length, clients)
  assert.equal(othersEnded, 0, 'sessions of other users ended with those of the disabled one')
  assert.equal(disabledAccepted, 0, 'sessions of the disabled user after the return')
  return {
    clients,
    heartbeat,
    'at the standby within ms': Math.round(Math.max(...away)),
    'median ms': medianOf(away),
    'clients by seconds until they are at the standby': histogramOf(away),
    'back at the primary within ms': Math.round(Math.max(...back)),
    'clients by seconds until they are back': histogramOf(back),
    'sessions of the disabled user ended within ms': Math.round(disabledMs),
  }
}

async function runWorld(options: WorldOptions, signal: AbortSignal): Promise<Measurements> {
  const args = [...SANDBOX, process.execPath, WORLD, JSON.stringify(options)]
  const world = spawn('setpriv', args, { stdio: ['ignore', 'pipe', 'pipe'], signal, killSignal: 'SIGKILL' })
  const [output, errors, [code]] = await Promise.all([
    text(world.stdout),
    text(world.stderr),
    once(world, 'close'),
  ])
  assert.equal(code, 0, errors)
  return JSON.parse(output) as Measurements
}

function medianOf(values: readonly number[]): number {
  return Math.round(values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? 0)
}

/** `0-1: 12, 1-2: 300`: the number of values in each range of seconds. */
function histogramOf(milliseconds: readonly number[]): string {
  const ranges = [0, ...COLUMNS].map((from, index) => ({
    from,
    to: COLUMNS[index] ?? Number.POSITIVE_INFINITY,
  }))
  return ranges
    .map(({ from, to }) => {
      const count = milliseconds.filter((each) => each >= from * 1_000 && each < to * 1_000).length
      return count > 0 ? `${Number.isFinite(to) ? `${from}-${to}` : `${from}+`}: ${count}` : ''
    })
    .filter((column) => column !== '')
    .join(', ')
}
