import { jsonRequest, SENT, type RobotAdapter } from './adapter.ts'
import { quote, statusVerdict } from './replies.ts'
import type { RobotMessage } from './robot.ts'

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }

// Without angle brackets `<!channel>` notifies no one.
const escape = (text: string) => text.replace(/[&<>]/g, (character) => ENTITIES[character] ?? character)

const content = ({ title, text }: RobotMessage) => escape(`${title}\n${text}`)

export const slack: RobotAdapter = {
  // One a second, with a margin for the network.
  rate: { burst: 1, everyMs: 1_100 },
  maximumSize: 40_000,
  size: (message) => content(message).length,
  request: (message, { url }) => jsonRequest(url, { text: content(message), mrkdwn: false }),
  verdict(reply, now) {
    if (reply.status === 200 && reply.body.trim() === 'ok') return SENT
    if (reply.status !== 200) return statusVerdict(reply, now)
    return { sent: false, reason: `an unknown answer: ${quote(reply.body)}`, retryable: true }
  },
}
