/** The command that starts the missing message bus, if one of these servers is on this host and without TLS. */
function busHint(servers: readonly string[]): string | undefined {
  const local = servers.map((server) => new URL(server)).find(isLocal)
  if (!local) return undefined
  const address = local.hostname === 'localhost' ? '127.0.0.1' : local.hostname.replaceAll(/[[\]]/g, '')
  // Without an address it listens for every network, and without a directory it stores in /tmp.
  return `nats-server -a ${address} -p ${local.port} -js -sd nats-data`
}

function isLocal({ protocol, hostname }: URL): boolean {
  return protocol === 'nats:' && /^(?:localhost|127\.[\d.]+|\[::1\])$/.test(hostname)
}

/** What to do about a bus that cannot be used, by the reason. */
const REMEDIES: readonly (readonly [pattern: RegExp, remedy: string])[] = [
  [
    /certificate/i,
    'renew the certificate of the bus; if your own authority has signed it, set NODE_EXTRA_CA_CERTS to the file of the authority',
  ],
  [/authorization|authentication/i, 'correct the login in bus.server'],
  // Another program listens there, or the port of the monitoring or of the cluster of NATS.
  [/no greeting/, 'correct the port in bus.server: what listens there does not greet as NATS does'],
  [/ENOTFOUND|EAI_AGAIN/, 'correct the host name in bus.server, or the name service of this host'],
]

/** What to do about the servers of `bus.server`, none of which can be used for this reason. */
export function busRemedy(servers: readonly string[], reason = ''): string {
  const known = REMEDIES.find(([pattern]) => pattern.test(reason))
  if (known) return known[1]
  const hint = busHint(servers)
  return hint ? `start it (${hint}), or change bus.server` : 'start it, or change bus.server'
}
