import { sentenceWith, type ErrorValues } from '../../kernel/errors.ts'
import { FINDINGS, type FindingCode } from '../doctor/findings.ts'

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

/** What is wrong with a bus that cannot be used, by the reason. */
const FAULTS: readonly (readonly [pattern: RegExp, code: FindingCode])[] = [
  [/certificate/i, 'bus_certificate_refused'],
  [/authorization|authentication/i, 'bus_login_refused'],
  // Another program listens there, or the port of the monitoring or of the cluster of NATS.
  [/no greeting/, 'bus_is_other_program'],
  [/ENOTFOUND|EAI_AGAIN|is not resolved/, 'bus_host_unknown'],
  // A firewall drops what is sent there.
  [/ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|no connection/, 'bus_unanswered'],
]

/** The finding about the servers of `bus.server`, none of which can be used for this reason. */
export function busFault(servers: readonly string[], reason = ''): [code: FindingCode, values: ErrorValues] {
  const known = FAULTS.find(([pattern]) => pattern.test(reason))
  const command = busHint(servers)
  if (known) return [known[1], { reason }]
  return command === undefined ? ['bus_unreachable', { reason }] : ['bus_stopped', { reason, command }]
}

/** What to do about them. */
export function busRemedy(servers: readonly string[], reason?: string): string {
  const [code, values] = busFault(servers, reason)
  return sentenceWith(FINDINGS[code].remedy, values)
}
