import { randomBytes } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { eventually } from '../eventually.ts'
import { PROGRAM } from '../platform.ts'
import { BusTrio } from './bus-trio.ts'
import { CLIENT_ADDRESS, Network, startOn, type Host, type HostProcess } from './network.ts'
import { PostgresTrio } from './postgres-trio.ts'
import { API_PORT, startProxy } from './proxy.ts'
import { inSandbox } from './sandbox.ts'

const PATIENCE = { timeoutMs: 600_000 }
const GATEWAY_PORT = 9994
const WORKER_PORT = 9602

// As in deploy/systemd/platform@.service: an orderly end, and wrong configuration.
const UNIT = { pauseMs: 2_000, neverRestarts: new Set([0, 2]) }

export type Module = 'api' | 'gateway' | 'worker'

const PORTS: Readonly<Record<Module, number>> = { api: API_PORT, gateway: GATEWAY_PORT, worker: WORKER_PORT }

export interface ClusterSize {
  readonly apis: number
  readonly gateways: number
  readonly workers: number
  readonly withProxy: boolean
}

export const FULL_SIZE: ClusterSize = { apis: 3, gateways: 2, workers: 2, withProxy: true }

/** One part of the cluster, for people. */
export interface Place {
  readonly host: string
  readonly what: string
  readonly address: string
}

/**
 * The platform on many hosts: PostgreSQL on three, of which Patroni chooses the primary, three servers of etcd and of NATS,
 * and processes of each module. It ends with the sandbox.
 */
export class Cluster {
  readonly network = new Network()
  readonly postgres: PostgresTrio
  readonly bus: BusTrio
  readonly proxy: Host | undefined
  readonly apis: readonly Host[]
  readonly gateways: readonly Host[]
  readonly workers: readonly Host[]
  readonly databases: readonly Host[]
  /** The hosts of etcd, which keeps who the primary is. */
  readonly deciders: readonly Host[]
  readonly busHosts: readonly Host[]
  /** The signing key of the tokens. */
  readonly jwtSecret = randomBytes(32).toString('hex')
  readonly #env: NodeJS.ProcessEnv
  /** The latest start on each host. */
  readonly #latest = new Map<Host, HostProcess>()

  /** `env` has settings of all processes. */
  constructor({ apis, gateways, workers, withProxy }: ClusterSize, env: NodeJS.ProcessEnv = {}) {
    this.#env = env
    const add = (prefix: string, count: number, first: number) =>
      Array.from({ length: count }, (_, index) =>
        this.network.addHost(`${prefix}${index + 1}`, first + index),
      )
    this.databases = add('db', 3, 11)
    this.deciders = add('etcd', 3, 15)
    this.busHosts = add('bus', 3, 21)
    this.apis = add('api', apis, 31)
    this.proxy = withProxy ? this.network.addHost('proxy', 40) : undefined
    this.gateways = add('gateway', gateways, 51)
    this.workers = add('worker', workers, 61)
    this.postgres = new PostgresTrio(this.databases, this.deciders)
    this.bus = new BusTrio(this.busHosts)
  }

  /** Starts everything; `show` gets what starts next. */
  async start(show: (step: string) => void): Promise<void> {
    show('etcd, and PostgreSQL under Patroni')
    await this.postgres.start()
    show('NATS')
    await this.bus.start()
    show('the platform')
    if (this.proxy) startProxy(this.proxy, this)
    // The first one migrates the schema.
    for (const host of this.apis) await this.#startAndWait(host, 'api')
    await Promise.all([
      ...this.gateways.map((host) => this.#startAndWait(host, 'gateway')),
      ...this.workers.map((host) => this.#startAndWait(host, 'worker')),
    ])
  }

  /** Starts the process of a host; `env` adds settings. It is started again if it fails, as its systemd unit does. */
  startModule(host: Host, module: Module, env: NodeJS.ProcessEnv = {}): void {
    const started = this.#spawnModule(host, module, env)
    this.#latest.set(host, started)
    started.child.once('exit', (code) => {
      // Null after a signal: that of a fault, which starts the process itself.
      if (code === null || UNIT.neverRestarts.has(code)) return
      setTimeout(() => {
        if (this.#latest.get(host) === started) this.startModule(host, module, env)
      }, UNIT.pauseMs).unref()
    })
  }

  #spawnModule(host: Host, module: Module, env: NodeJS.ProcessEnv): HostProcess {
    const dataDir = inSandbox(`data-${host.name}`)
    mkdirSync(dataDir, { recursive: true })
    const listen = `${host.address}:${PORTS[module]}`
    return startOn(host, module, [process.execPath, PROGRAM, 'serve', '--module', module], {
      DATA_DIR: dataDir,
      DATABASE_URL: this.postgres.url,
      BUS_SERVER: this.bus.servers,
      BUS_REPLICAS: '3',
      JWT_SECRET: this.jwtSecret,
      TRUSTED_PROXIES: this.#trusted.join(','),
      GATEWAY_API_URL: this.apiUrl,
      GATEWAY_NAME: host.name,
      LOG_FORMAT: 'json',
      [module === 'worker' ? 'WORKER_LISTEN_ADDR' : 'LISTEN_ADDR']: listen,
      ...this.#env,
      ...env,
    })
  }

  /** The module whose process runs on the host. */
  moduleOf(host: Host): Module {
    if (this.apis.includes(host)) return 'api'
    return this.gateways.includes(host) ? 'gateway' : 'worker'
  }

  /** The addresses for clients of the VPN. */
  get gatewayUrls(): readonly string[] {
    return this.gateways.map((host) => urlOf(host, 'gateway'))
  }

  /** Waits until the process of a host answers, with its database. */
  async untilReady(host: Host, module: Module): Promise<void> {
    const ready = async () => (await fetch(`${urlOf(host, module)}/health`, timeLimit())).ok
    await eventually(`${module} on ${host.name}`, ready, PATIENCE)
  }

  get places(): readonly Place[] {
    const { databases, deciders, busHosts, proxy, apis, gateways, workers } = this
    const modules = (hosts: readonly Host[], module: Module) =>
      hosts.map((host) => ({ host: host.name, what: module, address: urlOf(host, module) }))
    return [
      ...databases.map(({ name, address }) => ({
        host: name,
        what: 'PostgreSQL',
        address: `${address}:5432`,
      })),
      ...deciders.map(({ name, address }) => ({ host: name, what: 'etcd', address: `${address}:2379` })),
      ...busHosts.map(({ name, address }) => ({ host: name, what: 'NATS', address: `${address}:4222` })),
      ...(proxy
        ? [{ host: proxy.name, what: 'HAProxy before the apis', address: `http://${proxy.address}` }]
        : []),
      ...modules(apis, 'api'),
      ...modules(gateways, 'gateway'),
      ...modules(workers, 'worker'),
    ]
  }

  /** Whose identity headers count. */
  get #trusted(): string[] {
    return [CLIENT_ADDRESS, ...[this.proxy, ...this.gateways].flatMap((host) => host?.address ?? [])]
  }

  /** An address of the apis for programs that send identity headers. */
  get apiUrl(): string {
    return `http://${(this.proxy ?? this.apis[0])?.address}:${API_PORT}`
  }

  async #startAndWait(host: Host, module: Module): Promise<void> {
    this.startModule(host, module)
    await this.untilReady(host, module)
  }
}

function urlOf({ address }: Host, module: Module): string {
  return `http://${address}:${PORTS[module]}`
}

function timeLimit(): RequestInit {
  return { signal: AbortSignal.timeout(2_000) }
}
