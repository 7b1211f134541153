import {
  jsonRequest,
  LINK_TEXTS,
  permanent,
  SENT,
  temporary,
  type RobotAdapter,
  type RobotReply,
  type Verdict,
} from './adapter.ts'
import { jsonFields, quote, statusVerdict } from './replies.ts'
import type { RobotMessage } from './robot.ts'

// A wrong token, a robot that is not in the chat or was removed from it.
const OF_RECEIVER = [401, 403, 404]
const OF_CHAT = /\bchat\b|\bgroup\b/i
const MS_PER_SECOND = 1_000
const DEFAULT_PAUSE_MS = 60_000

const content = ({ title, text }: RobotMessage) => `${title}\n${text}`

// A button with an address that the internet cannot know is refused, and with it the message.
const isPublic = (url: string) => new URL(url).hostname.includes('.')

function keyboard({ links = [] }: RobotMessage): object {
  const buttons = links
    .filter(({ url }) => isPublic(url))
    .map(({ kind, url }) => ({ text: LINK_TEXTS[kind], url }))
  return buttons.length === 0 ? {} : { reply_markup: { inline_keyboard: [buttons] } }
}

function verdict(reply: RobotReply, now: number): Verdict {
  const { ok, error_code: code, description, parameters } = jsonFields(reply.body)
  if (reply.status === 200 && ok === true) return SENT
  if (ok !== false)
    return reply.status === 200
      ? temporary(`an unknown answer: ${quote(reply.body)}`)
      : statusVerdict(reply, now)
  const text = typeof description === 'string' ? description : ''
  const reason = `code ${Number(code)}: ${quote(text)}`
  if (Number(code) === 429) {
    const seconds = Number(Object(parameters)['retry_after'])
    return temporary(reason, seconds > 0 ? seconds * MS_PER_SECOND : DEFAULT_PAUSE_MS)
  }
  if (Number(code) >= 500) return temporary(reason)
  const isOfReceiver = OF_RECEIVER.includes(Number(code)) || OF_CHAT.test(text)
  return permanent(reason, isOfReceiver ? 'receiver' : 'message')
}

/** `sendMessage` of the Bot API, as plain text. */
export const telegram: RobotAdapter = {
  // 20 in a minute to one group.
  rate: { burst: 8, everyMs: 5_000 },
  maximumSize: 4_096,
  size: (message) => content(message).length,
  request: (message, { url, chatId }) =>
    jsonRequest(url, {
      chat_id: chatId,
      text: content(message),
      link_preview_options: { is_disabled: true },
      ...keyboard(message),
    }),
  verdict,
}
