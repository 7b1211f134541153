import type { MsgHdrs } from '@nats-io/transport-node'
import { headers, InvalidArgumentError } from '@nats-io/transport-node'
import type { BusMessage } from '../../kernel/bus.ts'

const MESSAGE_ID = 'Nats-Msg-Id'

/** The headers as the client takes them, with the message's id. Throws on a header that the bus does not accept. */
export function toHeaders(message: BusMessage): MsgHdrs {
  const result = headers()
  const all =
    'traceparent' in message.headers ? message.headers : { ...message.traceHeaders, ...message.headers }
  for (const [name, value] of Object.entries(all)) {
    // Headers with this prefix are commands to the server: one of them can empty a stream.
    if (/^nats-/i.test(name)) throw new InvalidArgumentError(`the header ${name} is reserved for the bus`)
    if (name === '') throw new InvalidArgumentError('the name of a header is empty')
    result.append(name, value)
  }
  result.set(MESSAGE_ID, message.id)
  return result
}
