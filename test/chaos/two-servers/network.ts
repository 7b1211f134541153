import { execFileSync } from 'node:child_process'

/** Hosts in network namespaces on one bridge; the process itself is the host of the clients. */
export const ADDRESSES = { primary: '10.99.0.1', standby: '10.99.0.2', clients: '10.99.0.9' } as const
export type ServerName = 'primary' | 'standby'

/** Makes the switch, the servers and the host of the clients. Needs a network namespace of its own. */
export function createNetwork(): void {
  execFileSync('mkdir', ['-p', '/run/netns'])
  ip('link set lo up')
  ip('netns add switch')
  ip('-n switch link add bridge type bridge forward_delay 0')
  ip('-n switch link set bridge up')
  ip(`-n switch link add port-clients type veth peer name eth0 netns ${process.pid}`)
  ip('-n switch link set port-clients master bridge up')
  ip(`addr add ${ADDRESSES.clients}/24 dev eth0`)
  ip('link set eth0 up')
  plugIn('primary')
  plugIn('standby')
}

/** A host with its address; also after {@link powerOff}. */
export function plugIn(name: ServerName): void {
  const address = ADDRESSES[name]
  // The same hardware address after a power cut: neighbours remember it.
  const mac = `02:00:00:00:00:0${address.at(-1)}`
  ip(`netns add ${name}`)
  ip(`-n switch link add port-${name} type veth peer name eth0 address ${mac} netns ${name}`)
  ip(`-n switch link set port-${name} master bridge up`)
  ip(`-n ${name} addr add ${address}/24 dev eth0`)
  ip(`-n ${name} link set lo up`)
  ip(`-n ${name} link set eth0 up`)
}

/** Takes the host off the network before its processes end, so that no other host hears of it. */
export function unplug(name: ServerName): void {
  ip(`-n switch link del port-${name}`)
}

/** After {@link unplug} and the end of its processes. */
export function powerOff(name: ServerName): void {
  ip(`netns del ${name}`)
}

/** Cuts the line of a host at the switch, or mends it. */
export function setLine(name: ServerName, state: 'up' | 'down'): void {
  ip(`-n switch link set port-${name} ${state}`)
}

/** The command that runs a program on a host. */
export function onHost(name: ServerName): string[] {
  return ['nsenter', `--net=/run/netns/${name}`, '--']
}

function ip(command: string): void {
  execFileSync('ip', command.split(' '), { stdio: ['ignore', 'ignore', 'pipe'] })
}
