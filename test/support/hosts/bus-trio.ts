import { writeFileSync } from 'node:fs'
import { eventually } from '../eventually.ts'
import { killPrograms, startOn, type Host } from './network.ts'
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
    const leader = async () => (await this.#ask('jsz')).find((each) => each.meta_cluster?.leader)
    await eventually('a leader of JetStream', leader, PATIENCE)
  }

  /** Starts the server of a host on the data that it has. */
  startServer(host: Host): void {
    const { name, address } = host
    const routes = this.#hosts.map((each) => `"nats://${each.address}:${ROUTES}"`).join(', ')
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
    startOn(host, 'nats', ['nats-server', '-c', file])
  }

  /** The host whose server takes the messages of the stream. */
  async leaderOf(stream: string): Promise<Host> {
    const name = await eventually(
      `a leader of ${stream}`,
      async () =>
        (await this.#ask('jsz?accounts=true&streams=true'))
          .map((each) => leaderIn(each, stream))
          .find(Boolean),
      PATIENCE,
    )
    return this.#hosts.find((host) => host.name === name) as Host
  }

  async restartLeader(stream: string): Promise<void> {
    const host = await this.leaderOf(stream)
    await killPrograms(host)
    this.startServer(host)
  }

  /** The answers of the servers that answer. */
  async #ask(path: string): Promise<JetStreamState[]> {
    const answers = await Promise.allSettled(
      this.#hosts.map(async ({ address }) => {
        const signal = AbortSignal.timeout(1_000)
        return (
          await fetch(`http://${address}:${MONITORING}/${path}`, { signal })
        ).json() as Promise<JetStreamState>
      }),
    )
    return answers.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []))
  }
}

/** The response to `GET /jsz`. */
interface JetStreamState {
  readonly meta_cluster?: { readonly leader?: string }
  readonly account_details?: readonly {
    readonly stream_detail?: readonly {
      readonly name: string
      readonly cluster?: { readonly leader?: string }
    }[]
  }[]
}

function leaderIn({ account_details: accounts = [] }: JetStreamState, stream: string): string | undefined {
  const streams = accounts.flatMap(({ stream_detail: details = [] }) => details)
  return streams.find(({ name }) => name === stream)?.cluster?.leader
}
