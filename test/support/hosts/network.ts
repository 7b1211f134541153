import { execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { eventually } from '../eventually.ts'
import { inSandbox, systemPath } from './sandbox.ts'

const SWITCH = 'switch'
const PREFIX = '10.99.0'
/** Address of this process, as the client of the hosts. */
export const CLIENT_ADDRESS = `${PREFIX}.250`
const COMMAND_LIMIT_MS = 60_000
const FAULTS = `
table bridge faults {
  set drops { type ifname . ifname; }
  chain forward {
    type filter hook forward priority 0; policy accept;
    iifname . oifname @drops drop
  }
}
`

/** A program on a host. */
export interface HostProcess {
  readonly name: string
  readonly child: ChildProcess
  readonly log: string
}

/**
 * A network namespace with an address of its own, which is connected to the others by a switch. It also has a name and
 * process ids of its own, as a machine has: programs of other hosts cannot see whether a process of this one has ended.
 */
export interface Host {
  readonly name: string
  readonly address: string
  /** The process that keeps its namespaces. */
  readonly holder: number
}

/** The switch, the hosts and the faults between them. Only in a sandbox: the commands need its rights. */
export class Network {
  readonly #hosts = new Map<string, Host>()
  #hasDrops = false

  constructor() {
    ip('link', 'set', 'lo', 'up')
    ip('netns', 'add', SWITCH)
    ip('-n', SWITCH, 'link', 'add', 'br0', 'type', 'bridge', 'forward_delay', '0')
    ip('-n', SWITCH, 'link', 'set', 'br0', 'up')
    // This process itself, as the client of the others.
    ip(
      '-n',
      SWITCH,
      'link',
      'add',
      'p-client',
      'type',
      'veth',
      'peer',
      'name',
      'eth0',
      'netns',
      `${process.pid}`,
    )
    this.#plug('client')
    ip('addr', 'add', `${CLIENT_ADDRESS}/24`, 'dev', 'eth0')
    ip('link', 'set', 'eth0', 'up')
  }

  addHost(name: string, number: number): Host {
    const address = `${PREFIX}.${number}`
    const mac = `02:00:00:00:00:${number.toString(16).padStart(2, '0')}`
    ip('netns', 'add', name)
    ip(
      '-n',
      SWITCH,
      'link',
      'add',
      portOf(name),
      'type',
      'veth',
      'peer',
      'name',
      'eth0',
      'address',
      mac,
      'netns',
      name,
    )
    this.#plug(name)
    ip('-n', name, 'addr', 'add', `${address}/24`, 'dev', 'eth0')
    for (const link of ['lo', 'eth0']) ip('-n', name, 'link', 'set', link, 'up')
    const host = { name, address, holder: holdNamespaces(name) }
    this.#hosts.set(name, host)
    return host
  }

  /** Cuts the host off from all others, in both directions; its programs see no change. */
  cutOff({ name }: Host): void {
    ip('-n', SWITCH, 'link', 'set', portOf(name), 'down')
  }

  /** Nothing from `from` reaches `to`, but the other direction works. */
  cutOneWay(from: Host, to: readonly Host[]): void {
    if (!this.#hasDrops) onSwitch('nft', ['-f', '-'], FAULTS)
    this.#hasDrops = true
    const pairs = to.map((each) => `"${portOf(from.name)}" . "${portOf(each.name)}"`)
    onSwitch('nft', ['add', 'element', 'bridge', 'faults', 'drops', `{ ${pairs.join(', ')} }`])
  }

  /** Nothing passes between the host and these others. */
  cutBothWays(host: Host, others: readonly Host[]): void {
    this.cutOneWay(host, others)
    for (const other of others) this.cutOneWay(other, [host])
  }

  /** Limits what reaches the host. */
  slowDown({ name }: Host, rate = '256kbit'): void {
    const limit = ['tbf', 'rate', rate, 'burst', '10k', 'latency', '200ms']
    onSwitch('tc', ['qdisc', 'replace', 'dev', portOf(name), 'root', ...limit])
  }

  /** Ends all faults of the network. */
  heal(): void {
    if (this.#hasDrops) onSwitch('nft', ['flush', 'set', 'bridge', 'faults', 'drops'])
    for (const { name } of this.#hosts.values()) {
      ip('-n', SWITCH, 'link', 'set', portOf(name), 'up')
      if (onSwitch('tc', ['qdisc', 'show', 'dev', portOf(name)]).includes('tbf'))
        onSwitch('tc', ['qdisc', 'del', 'dev', portOf(name), 'root'])
    }
  }

  /** Kills the programs of all hosts. The network itself ends with the sandbox. */
  close(): void {
    for (const host of this.#hosts.values()) {
      // A program that was frozen may leave its `nsenter` stopped, which would never end by itself.
      signalAll(host, 'SIGKILL')
      process.kill(host.holder, 'SIGKILL')
    }
  }

  #plug(name: string): void {
    ip('-n', SWITCH, 'link', 'set', portOf(name), 'master', 'br0', 'up')
  }
}

/** Starts a program on a host; its output goes to a file. */
export function startOn(
  host: Host,
  name: string,
  [command = '', ...args]: readonly string[],
  env: NodeJS.ProcessEnv = {},
): HostProcess {
  const log = inSandbox(`${host.name}-${name}.log`)
  const file = openSync(log, 'a')
  const of = `/proc/${host.holder}/ns`
  const enter = [`--net=/run/netns/${host.name}`, `--uts=${of}/uts`, `--pid=${of}/pid_for_children`]
  const child = spawn('nsenter', [...enter, '--', command, ...args], {
    stdio: ['ignore', file, file],
    env: { PATH: systemPath(), HOME: inSandbox(), ...env },
  })
  closeSync(file)
  return { name, child, log }
}

/** Starts a process with a host name and process ids of its own; returns its id when others can enter them. */
function holdNamespaces(name: string): number {
  const setName = 'echo "$0" > /proc/sys/kernel/hostname && exec sleep infinity'
  const { pid } = spawn('unshare', ['-upf', '--kill-child', 'sh', '-c', setName, name], { stdio: 'ignore' })
  run('sh', ['-c', `until [ -n "$(cat /proc/${pid}/task/${pid}/children)" ]; do sleep 0.01; done`])
  return Number(pid)
}

/** Kills all programs of a host. The kernel closes their connections, as it does for a program that crashes. */
export async function killPrograms(host: Host): Promise<void> {
  const isEmpty = () => {
    signalAll(host, 'SIGKILL')
    return processesOf(host).length === 0
  }
  await eventually(`the programs of ${host.name} to end`, isEmpty)
}

/** Kills the processes of one program of a host; another program may start it again meanwhile. */
export function killProgram(host: Host, program: string): void {
  const isOfProgram = (id: number) => run('ps', ['-o', 'comm=', '-p', `${id}`]).trim() === program
  for (const id of processesOf(host).filter(isOfProgram)) process.kill(id, 'SIGKILL')
}

/** Stops all programs of a host where they are. Its kernel goes on: it acknowledges what they do not read. */
export async function freezePrograms(host: Host): Promise<void> {
  let stopped = -1
  // A program may start another one meanwhile.
  await eventually(`the programs of ${host.name} to stop`, () => {
    const before = stopped
    stopped = signalAll(host, 'SIGSTOP')
    return stopped === before
  })
}

export function resumePrograms(host: Host): void {
  signalAll(host, 'SIGCONT')
}

/** Returns the number of processes. */
function signalAll(host: Host, signal: NodeJS.Signals): number {
  const processes = processesOf(host)
  for (const id of processes) {
    try {
      process.kill(id, signal)
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error
    }
  }
  return processes.length
}

/** The ids of all processes of a host, as this process sees them. */
export function processesOf({ name }: Host): number[] {
  return ip('netns', 'pids', name).split('\n').filter(Boolean).map(Number)
}

function portOf(name: string): string {
  return `p-${name}`
}

function ip(...args: readonly string[]): string {
  return run('ip', args)
}

function onSwitch(command: string, args: readonly string[], input = ''): string {
  return run('nsenter', [`--net=/run/netns/${SWITCH}`, '--', command, ...args], input)
}

function run(command: string, args: readonly string[], input = ''): string {
  const env = { ...process.env, PATH: systemPath() }
  // Nothing else runs meanwhile, not even the time limit of a test.
  return execFileSync(command, args, { encoding: 'utf8', input, env, timeout: COMMAND_LIMIT_MS })
}
