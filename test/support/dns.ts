import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { isIPv4 } from 'node:net'

const HEADER_BYTES = 12
const TYPE_A = 1
const NO_SUCH_NAME = 3

export interface DnsQuestion {
  /** The first label of the name. */
  readonly label: string
  /** Otherwise it is for IPv6. */
  readonly isForIpv4: boolean
}

/**
 * A DNS server (RFC 1035). `respond` may answer later or never; without an address there is no such name. An IPv6 address has
 * all of its groups.
 */
export async function startDns(
  respond: (question: DnsQuestion, answer: (address?: string) => void) => void,
): Promise<Disposable & { readonly server: string }> {
  const socket = createSocket('udp4')
  socket.on('message', (query, { port, address: client }) => {
    const label = query.toString('latin1', HEADER_BYTES + 1, HEADER_BYTES + 1 + (query[HEADER_BYTES] ?? 0))
    const isForIpv4 = query.readUInt16BE(query.indexOf(0, HEADER_BYTES) + 1) === TYPE_A
    respond({ label, isForIpv4 }, (address) => socket.send(answerTo(query, address), port, client))
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  return {
    server: `127.0.0.1:${socket.address().port}`,
    [Symbol.dispose]: () => void socket.close(),
  }
}

/** The head and the question, and the address if there is one. */
function answerTo(query: Buffer, address: string | undefined): Buffer {
  const answer = Buffer.from(query.subarray(0, query.indexOf(0, HEADER_BYTES) + 5))
  answer.writeUInt16BE(0x8180 | (address === undefined ? NO_SUCH_NAME : 0), 2)
  answer.writeUInt16BE(address === undefined ? 0 : 1, 6)
  answer.writeUInt32BE(0, 8)
  if (address === undefined) return answer
  // The name of the question, type A or AAAA, class IN, for 0 s, 4 or 16 bytes.
  const [head, data] = isIPv4(address)
    ? ['c00c00010001000000000004', Buffer.from(address.split('.').map(Number))]
    : ['c00c001c0001000000000010', Buffer.from(groupsOf(address).join(''), 'hex')]
  return Buffer.concat([answer, Buffer.from(head, 'hex'), data])
}

function groupsOf(address: string): string[] {
  return address.split(':').map((group) => group.padStart(4, '0'))
}
