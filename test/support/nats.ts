import type { ChildProcess } from 'node:child_process'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { eventually } from './eventually.ts'

export interface NatsOptions {
  readonly jetstream: boolean
  /** Default: a free port. */
  readonly port?: number
  /** Default: a temporary directory, removed by `stop`. */
  readonly storeDir?: string
  /** More lines for the server's configuration file. */
  readonly config?: string
}

/** A real nats-server in its own process. */
export interface NatsServer {
  readonly url: string
  readonly port: number
  /** Suspends the process (SIGSTOP): connections stay open and get no response. */
  pause(): void
  resume(): void
  /** Kills the process (SIGKILL). */
  kill(): Promise<void>
  /** Starts it again after `kill`, with the same port and store. */
  restart(): Promise<void>
  stop(): Promise<void>
}

const COMMAND = '/usr/sbin/nats-server'

export async function startNats(options: NatsOptions): Promise<NatsServer> {
  const directory = await mkdtemp(join(tmpdir(), 'nats-'))
  let running = await launch(directory, options)
  const { port } = running

  async function end(signal: NodeJS.Signals): Promise<void> {
    const { child } = running
    if (child.exitCode !== null || child.signalCode !== null) return
    const exited = once(child, 'exit')
    child.kill(signal)
    await exited
  }

  return {
    url: `nats://127.0.0.1:${port}`,
    port,
    pause() {
      running.child.kill('SIGSTOP')
      // A thread that runs on another core is suspended a moment later.
      while (!isStopped(running.child.pid ?? 0));
    },
    resume: () => void running.child.kill('SIGCONT'),
    kill: () => end('SIGKILL'),
    async restart() {
      running = await launch(directory, { ...options, port })
    },
    async stop() {
      await end('SIGKILL')
      await rm(directory, { recursive: true, force: true })
    },
  }
}

interface Running {
  readonly child: ChildProcess
  readonly port: number
}

async function launch(directory: string, options: NatsOptions): Promise<Running> {
  const file = join(directory, 'nats.conf')
  await writeFile(file, configuration(directory, options))
  const child = spawn(COMMAND, ['-c', file], { stdio: ['ignore', 'ignore', 'pipe'] })
  let output = ''
  child.stderr.on('data', (chunk) => (output += String(chunk)))
  await waitForSpawn(child)
  killAtExit(child)
  // Written once the server accepts connections.
  const ports = join(directory, `nats-server_${child.pid}.ports`)
  const url = await eventually('the nats-server to listen', async () => {
    if (child.exitCode !== null) return `nats-server ended: ${output}`
    return (JSON.parse(await readFile(ports, 'utf8')) as { nats: string[] }).nats[0]
  })
  if (!URL.canParse(url)) throw new Error(url)
  return { child, port: Number(new URL(url).port) }
}

function configuration(
  directory: string,
  { jetstream, port = -1, storeDir, config = '' }: NatsOptions,
): string {
  const store = JSON.stringify(storeDir ?? join(directory, 'store'))
  return [
    `listen: "127.0.0.1:${port}"`,
    `ports_file_dir: ${JSON.stringify(directory)}`,
    jetstream ? `jetstream { store_dir: ${store} }` : '',
    config,
  ].join('\n')
}

async function waitForSpawn(child: ChildProcess): Promise<void> {
  try {
    await once(child, 'spawn')
  } catch (cause) {
    throw new Error(`${COMMAND} cannot be started; on Debian: apt-get install nats-server`, { cause })
  }
}

/** Whether every thread of the process is stopped, see proc(5). */
function isStopped(pid: number): boolean {
  const tasks = `/proc/${pid}/task`
  return readdirSync(tasks).every((task) => /\) [TtZX]/.test(readFileSync(join(tasks, task, 'stat'), 'utf8')))
}

/** A server must not outlive a test that crashed. */
function killAtExit(child: ChildProcess): void {
  const kill = () => child.kill('SIGKILL')
  process.once('exit', kill)
  child.once('exit', () => process.off('exit', kill))
}
