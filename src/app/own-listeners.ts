import { once } from 'node:events'
import { get as getOverTls } from 'node:https'
import { text as readText } from 'node:stream/consumers'
import type { ListenAddress } from '../config/address-types.ts'
import type { Config } from '../config/config.ts'
import type { ModuleName } from '../config/value-types.ts'
import { isLoopbackHost } from '../kernel/addresses.ts'

/** Where a module of this configuration listens. */
export interface OwnListener {
  /** Such as `api.listen`. */
  readonly setting: string
  readonly address: ListenAddress
  readonly hasTls: boolean
}

/** The listeners of the modules that run here. */
export function listenersOf({ modules, api, gateway, worker }: Config): OwnListener[] {
  const listeners = {
    api: [api.listen, api.tls.certFile !== undefined],
    gateway: [gateway.listen, gateway.tls.certFile !== undefined],
    worker: [worker.listen, false],
  } as const
  return modules.flatMap((module) => {
    const [address, hasTls] = listeners[module]
    return address ? [{ setting: `${module}.listen`, address, hasTls }] : []
  })
}

/** The URL at which this server reaches a listener of its own without TLS. */
export function ownUrl({ host, port }: ListenAddress): string {
  const local = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host
  return `http://${local.includes(':') ? `[${local}]` : local}:${port}`
}

/**
 * The JSON that a listener of this server answers at a public path, whatever its status is. Nothing that is secret is sent, so
 * the certificate is not judged: it names no loopback address. Rejects when there is no answer in time, or no JSON.
 */
export async function readOwn(listener: OwnListener, path: string, timeoutMs: number): Promise<unknown> {
  return JSON.parse(await readOwnText(listener, path, timeoutMs))
}

/** The text that a listener of this server answers at a public path; see {@link readOwn}. */
export async function readOwnText(
  { address, hasTls }: OwnListener,
  path: string,
  timeoutMs: number,
): Promise<string> {
  const url = `${ownUrl(address)}${path}`
  const signal = AbortSignal.timeout(timeoutMs)
  if (!hasTls) return (await fetch(url, { signal })).text()
  const options = { rejectUnauthorized: false, agent: false, signal }
  const [response] = await once(getOverTls(url.replace('http:', 'https:'), options), 'response')
  return readText(response)
}

/** Whether passwords and tokens of other hosts reach the module without TLS, and no proxy that ends it is configured. */
export function isPlainForOthers({ proxy, ...config }: Config, module: ModuleName): boolean {
  if (module === 'worker' || proxy.clientAddressFrom.length > 0) return false
  const { listen, tls } = config[module]
  return tls.certFile === undefined && !isLoopbackHost(listen.host)
}
