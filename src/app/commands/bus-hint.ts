/** The command that starts the missing message bus, if one of these servers is on this host and without TLS. */
export function busHint(servers: readonly string[]): string | undefined {
  const local = servers.map((server) => new URL(server)).find(isLocal)
  return local && `nats-server -p ${local.port} -js`
}

function isLocal({ protocol, hostname }: URL): boolean {
  return protocol === 'nats:' && /^(?:localhost|127\.[\d.]+|\[::1\])$/.test(hostname)
}
