import type { BusFacts } from '../../../infra/bus/inspect-bus.ts'
import { errorMessage } from '../../../kernel/errors.ts'
import { busRemedy } from '../../commands/bus-hint.ts'
import { fault, fine, skipped, warning, type Check, type CheckFinding } from '../check.ts'

const NEARLY_FULL = 0.9
// docs/specification.md, Limits: a body has up to 1 MiB, and becomes the payload of a message.
const PAYLOAD_BYTES = 1_024 ** 2

/** Whether the bus can be reached, and keeps what the platform sends. */
export const busCheck: Check = {
  name: 'bus',
  run: async ({ loaded: { config }, bus }) => {
    try {
      const facts = await bus()
      return [server(facts), payload(facts), ...jetStream(facts)]
    } catch (error) {
      const { urls, text } = config.bus.server
      const reason = errorMessage(error)
      return [fault(text, `${reason}; events wait`, busRemedy(urls.reveal(), reason))]
    }
  },
}

function server({ address, version }: BusFacts): CheckFinding {
  return fine(address, `NATS ${version}`)
}

function payload({ maxPayloadBytes }: BusFacts): CheckFinding {
  const detail = `${maxPayloadBytes} bytes`
  if (maxPayloadBytes >= PAYLOAD_BYTES) return fine('max_payload', detail)
  return warning('max_payload', detail, `set it to ${PAYLOAD_BYTES} or more: larger messages become dead`)
}

function jetStream({ jetStream: facts }: BusFacts): CheckFinding[] {
  if (!facts)
    return [warning('jetstream', 'is off', 'enable it: without it a message that nobody reads is lost')]
  const { usedBytes, limitBytes, missingSubjects, streams } = facts
  return [
    fill('jetstream', usedBytes, limitBytes),
    ...streams.map(({ name, bytes, limitBytes: limit, acknowledges }) =>
      acknowledges
        ? fill(`stream ${name}`, bytes, limit)
        : fault(`stream ${name}`, 'does not acknowledge messages (no_ack or sealed)', 'change or delete it'),
    ),
    ...(missingSubjects.length > 0
      ? [skipped('streams', `none for ${missingSubjects.join(', ')} yet: the platform creates it`)]
      : []),
  ]
}

function fill(subject: string, used: number, limit: number | undefined): CheckFinding {
  if (limit === undefined) return fine(subject, `${used} bytes stored, no limit`)
  const detail = `${used} of ${limit} bytes stored`
  if (used >= NEARLY_FULL * limit) return warning(subject, detail, 'raise the limit: then messages wait')
  return fine(subject, detail)
}
