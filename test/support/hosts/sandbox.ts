import { spawn, spawnSync, type ChildProcess, type StdioOptions } from 'node:child_process'
import { join } from 'node:path'

const INNER = 'PLATFORM_SANDBOX'

/** In the sandbox: in memory, and gone with it. */
export const SANDBOX_DIRECTORY = '/run/hosts'

/** Whether this process runs in the sandbox. */
export function isInSandbox(): boolean {
  return process.env[INNER] !== undefined
}

// A file system of its own for /run; bash stays the first process, which ends those that have lost their parent.
const START = `mount -t tmpfs tmpfs /run && mkdir -p /run/netns ${SANDBOX_DIRECTORY} && "$@"; exit $?`

/**
 * Starts a program of this project in namespaces of its own for users, networks, mounts and processes (unshare(1)). No right
 * is needed. When either end dies, by whatever signal, the kernel ends all processes of the sandbox and removes its
 * addresses, links and files.
 */
export function spawnInSandbox(args: readonly string[], stdio: StdioOptions): ChildProcess {
  const namespaces = ['-Urmnpf', '--kill-child', '--mount-proc', '--propagation', 'private']
  const shell = ['bash', '-c', START, 'sandbox', process.execPath, ...args]
  return spawn('setpriv', ['--pdeathsig', 'KILL', 'unshare', ...namespaces, ...shell], {
    stdio,
    env: { ...process.env, [INNER]: '1' },
  })
}

interface Requirement {
  readonly command: string
  readonly package: string
}

const REQUIRED: readonly Requirement[] = [
  { command: 'unshare', package: 'util-linux' },
  { command: 'setpriv', package: 'util-linux' },
  { command: 'ip', package: 'iproute2' },
]
/** For a proxy, for faults in one direction, and for servers of PostgreSQL that replace each other. */
export const REQUIRED_FOR_ALL: readonly Requirement[] = [
  ...REQUIRED,
  { command: 'nft', package: 'nftables' },
  { command: 'haproxy', package: 'haproxy' },
  { command: 'patroni', package: 'patroni' },
  { command: 'etcd', package: 'etcd-server' },
]
const DIRECTORIES = ['/usr/sbin', '/sbin']

/** The `PATH` with the directories of system programs, which ordinary users of Debian lack. */
export function systemPath(): string {
  return [process.env['PATH'] ?? '', ...DIRECTORIES].join(':')
}

/** Why there can be no sandbox on this machine; undefined if there can be one. */
export function missingForSandbox(required = REQUIRED): string | undefined {
  const env = { ...process.env, PATH: systemPath() }
  const isMissing = ({ command }: Requirement) =>
    spawnSync('sh', ['-c', 'command -v "$1"', 'sh', command], { env }).status !== 0
  const missing = required.filter(isMissing).map((each) => each.package)
  if (missing.length > 0) return `it needs the Debian packages ${[...new Set(missing)].join(', ')}`
  const { status } = spawnSync('unshare', ['-Urn', 'true'])
  return status === 0 ? undefined : 'this machine does not allow user namespaces (unshare -Urn)'
}

/** A file of the sandbox. */
export function inSandbox(...names: readonly string[]): string {
  return join(SANDBOX_DIRECTORY, ...names)
}
