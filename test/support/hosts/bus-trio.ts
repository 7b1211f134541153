import { writeFileSync } from 'node:fs'
import { eventually } from '../eventually.ts'
import { startOn, type Host } from './network.ts'
import { inSandbox } from './sandbox.ts'

const PATIENCE = { timeoutMs: 300_000 }
const [CLIENTS, ROUTES, MONITORING] = [4222, 6222, 8222]

/** NATS servers that form a cluster with JetStream. */
export class BusTrio {
  readonly #hosts: readonly Host[]

  constructor(hosts: readonly Host[]) {
    this.#hosts = hosts
  }

  /** For `bus.server`. */
  get servers(): string {
    return this.#hosts.map(({ address }) => `nats://${address}:${CLIENTS}`).join(',')
  }

  async start(): Promise<void> {
    for (const host of this.#hosts) this.startServer(host)
    await eventually('a leader of JetStream', () => this.#leaderName(this.#hosts), PATIENCE)
  }

  /** Starts the server of a host on the data that it has. */
  startServer({ name, address }: Host): void {
    const routes = this.#hosts.map((host) => `"nats://${host.address}:${ROUTES}"`).join(', ')
    const file = inSandbox(`nats-${name}.conf`)
    const lines = [
      `server_name: "${name}"`,
      `listen: "${address}:${CLIENTS}"`,
      `http: "${address}:${MONITORING}"`,
      'ping_interval: "2s"',
      'ping_max: 2',
      `jetstream { store_dir: "${inSandbox(`nats-${name}`)}" }`,
      `cluster { name: platform, listen: "${address}:${ROUTES}", routes: [${routes}] }`,
    ]
    writeFileSync(file, lines.join('\n'))
    startOn({ name, address }, 'nats', ['nats-server', '-c', file])
  }

  /** The host whose server decides about streams. */
  async leader(): Promise<Host> {
    const name = await eventually('a leader of JetStream', () => this.#leaderName(this.#hosts), PATIENCE)
    return this.#hosts.find((host) => host.name === name) as Host
  }

  async #leaderName([host, ...others]: readonly Host[]): Promise<string | undefined> {
    if (!host) return undefined
    try {
      const signal = AbortSignal.timeout(1_000)
      const answer = await fetch(`http://${host.address}:${MONITORING}/jsz`, { signal })
      const { meta_cluster: cluster } = (await answer.json()) as { meta_cluster?: { leader?: string } }
      if (cluster?.leader) return cluster.leader
    } catch {
      // Another server may answer.
    }
    return this.#leaderName(others)
  }
}
