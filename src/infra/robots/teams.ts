import { byteLength, jsonRequest, LINK_TEXTS, SENT, temporary, type RobotAdapter } from './adapter.ts'
import { quote, statusVerdict } from './replies.ts'
import type { RobotMessage } from './robot.ts'

const SCHEMA = 'http://adaptivecards.io/schemas/adaptive-card.json'

/** A line of plain text: a TextBlock would read markup in it. */
const lineOf = (text: string, isTitle = false) => ({
  type: 'RichTextBlock',
  ...(!isTitle && { spacing: 'None' }),
  inlines: [{ type: 'TextRun', text: text === '' ? ' ' : text, ...(isTitle && { weight: 'Bolder' }) }],
})

function content({ title, text, links = [] }: RobotMessage): object {
  const card = {
    $schema: SCHEMA,
    type: 'AdaptiveCard',
    version: '1.4',
    body: [
      lineOf(title, true),
      ...text
        .replace(/\n$/, '')
        .split('\n')
        .map((line) => lineOf(line)),
    ],
    actions: links.map(({ kind, url }) => ({ type: 'Action.OpenUrl', title: LINK_TEXTS[kind], url })),
  }
  const contentType = 'application/vnd.microsoft.card.adaptive'
  return { type: 'message', attachments: [{ contentType, contentUrl: null, content: card }] }
}

/** An incoming webhook of the Workflows of Microsoft Teams, which answers 202. */
export const teams: RobotAdapter = {
  // 4 in a second.
  rate: { burst: 2, everyMs: 500 },
  // 28 KB, and what the workflow adds.
  maximumSize: 27_000,
  size: (message) => byteLength(JSON.stringify(content(message))),
  request: (message, { url }) => jsonRequest(url, content(message)),
  verdict(reply, now) {
    if (reply.status === 202) return SENT
    return reply.status === 200
      ? temporary(`an unknown answer: ${quote(reply.body)}`)
      : statusVerdict(reply, now)
  },
}
