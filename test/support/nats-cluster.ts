import type { TestContext } from 'node:test'
import { ownLoopback } from './loopback.ts'
import { startNats, type NatsServer } from './nats.ts'

const ROUTE_PORT = 6222

/** A cluster of servers with JetStream; `config` is added to the configuration of each. */
export async function openNatsCluster(
  t: TestContext,
  size: number,
  config = '',
): Promise<readonly NatsServer[]> {
  const hosts = Array.from({ length: size }, () => ownLoopback())
  const servers = await Promise.all(hosts.map((host) => startClusterMember(hosts, host, config)))
  t.after(() => Promise.all(servers.map((server) => server.stop())))
  return servers
}

/** A server of a cluster; `host` is its address for the others, `hosts` are the addresses of all. */
export function startClusterMember(
  hosts: readonly string[],
  host = ownLoopback(),
  more = '',
): Promise<NatsServer> {
  const routes = hosts.map((each) => `"nats://${each}:${ROUTE_PORT}"`).join(', ')
  const config = `
    server_name: "${host}"
    cluster { name: test, listen: "${host}:${ROUTE_PORT}", routes: [${routes}] }
    ${more}`
  return startNats({ jetstream: true, config })
}
