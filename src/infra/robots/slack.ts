import { jsonRequest, LINK_TEXTS, permanent, SENT, temporary, type RobotAdapter } from './adapter.ts'
import { quote, statusVerdict } from './replies.ts'
import type { RobotMessage } from './robot.ts'

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }

// Without angle brackets `<!channel>` notifies no one.
const escape = (text: string) => text.replace(/[&<>]/g, (character) => ENTITIES[character] ?? character)

// The answers about a webhook, its workspace or its channel, with several statuses.
const OF_RECEIVER = [
  'invalid_token',
  'no_active_hooks',
  'no_service',
  'no_service_id',
  'no_team',
  'team_disabled',
  'channel_not_found',
  'channel_is_archived',
  'action_prohibited',
  'posting_to_general_channel_denied',
]

const content = ({ title, text }: RobotMessage) => escape(`${title}\n${text}`)

/** Below the text, which stays as it is. */
function buttons({ links = [] }: RobotMessage): object {
  if (links.length === 0) return {}
  const elements = links.map(({ kind, url }) => ({
    type: 'button',
    text: { type: 'plain_text', text: LINK_TEXTS[kind] },
    url,
  }))
  return { attachments: [{ fallback: '', blocks: [{ type: 'actions', elements }] }] }
}

export const slack: RobotAdapter = {
  // One a second, with a margin for the network.
  rate: { burst: 1, everyMs: 1_100 },
  maximumSize: 40_000,
  size: (message) => content(message).length,
  request: (message, { url }) =>
    jsonRequest(url, { text: content(message), mrkdwn: false, ...buttons(message) }),
  verdict(reply, now) {
    if (reply.status === 200 && reply.body.trim() === 'ok') return SENT
    if (reply.status === 200) return temporary(`an unknown answer: ${quote(reply.body)}`)
    if (OF_RECEIVER.includes(reply.body.trim()))
      return permanent(`HTTP ${reply.status} ${quote(reply.body)}`, 'receiver')
    return statusVerdict(reply, now)
  },
}
