import type { SendFault } from '../../ports/notification-channel.ts'
import {
  jsonRequest,
  LINK_TEXTS,
  permanent,
  SENT,
  temporary,
  byteLength,
  type RobotAdapter,
  type RobotTarget,
  type RobotReply,
  type Verdict,
  quote,
  statusVerdict,
  jsonFields,
  type RobotKind,
  type RobotMessage,
} from './adapter.ts'
import { createHmac } from 'node:crypto'

// Too many messages silence a robot for ten minutes.
// Unknown tokens, and robots or groups that are gone.
const DINGTALK_RECEIVER_CODES = [300001, 300005, 400013, 400101, 400102, 400106]
// One code for a missing keyword, a wrong signature or time, and a forbidden address; only the text differs.
const SECURITY_CODE = 310000

const dingtalkFault = (code: number, text: string) =>
  DINGTALK_RECEIVER_CODES.includes(code) || (code === SECURITY_CODE && !/keyword/i.test(text))
    ? 'receiver'
    : 'message'

const DINGTALK_PAUSES_MS = { 130101: 600_000, 410100: 600_000, '-1': 2_000 }

function signedUrl(url: string, secret: string | undefined, now: number): string {
  if (secret === undefined) return url
  const signed = new URL(url)
  signed.searchParams.set('timestamp', String(now))
  signed.searchParams.set('sign', createHmac('sha256', secret).update(`${now}\n${secret}`).digest('base64'))
  return signed.href
}

// Plain text: markup in a title must not become a link or an image.
const dingtalkContent = ({ title, text }: RobotMessage) => ({
  msgtype: 'text',
  text: { content: `${title}\n${text}` },
})

export const dingtalk: RobotAdapter = {
  // 20 in a minute.
  rate: { burst: 10, everyMs: 6_000 },
  maximumSize: 20_000,
  size: (message) => byteLength(JSON.stringify(dingtalkContent(message))),
  request: (message, { url, secret, now }) =>
    jsonRequest(signedUrl(url, secret, now), dingtalkContent(message)),
  verdict: (reply, now) => errcodeVerdict(reply, now, DINGTALK_PAUSES_MS, dingtalkFault),
}

// A wrong token, a robot that is not in the chat or was removed from it.
const TELEGRAM_RECEIVER_STATUSES = [401, 403, 404]
const ABOUT_CHAT = /\bchat\b|\bgroup\b/i
const MS_PER_SECOND = 1_000
const DEFAULT_PAUSE_MS = 60_000

const telegramContent = ({ title, text }: RobotMessage) => `${title}\n${text}`

// A button with an address that the internet cannot know is refused, and with it the message.
const isPublic = (url: string) => new URL(url).hostname.includes('.')

function telegramKeyboard({ links = [] }: RobotMessage): object {
  const buttons = links
    .filter(({ url }) => isPublic(url))
    .map(({ kind, url }) => ({ text: LINK_TEXTS[kind], url }))
  return buttons.length === 0 ? {} : { reply_markup: { inline_keyboard: [buttons] } }
}

function telegramVerdict(reply: RobotReply, now: number): Verdict {
  const { ok, error_code: code, description, parameters } = jsonFields(reply.body)
  if (reply.status === 200 && ok === true) return SENT
  if (ok !== false) return statusVerdict(reply, now)
  const text = typeof description === 'string' ? description : ''
  const reason = `code ${Number(code)}: ${quote(text)}`
  if (Number(code) === 429) {
    const seconds = Number(Object(parameters)['retry_after'])
    return temporary(reason, seconds > 0 ? seconds * MS_PER_SECOND : DEFAULT_PAUSE_MS)
  }
  if (Number(code) >= 500) return temporary(reason)
  const isOfReceiver = TELEGRAM_RECEIVER_STATUSES.includes(Number(code)) || ABOUT_CHAT.test(text)
  return permanent(reason, isOfReceiver ? 'receiver' : 'message')
}

/** `sendMessage` of the Bot API, as plain text. */
const telegram: RobotAdapter = {
  // 20 in a minute to one group.
  rate: { burst: 8, everyMs: 5_000 },
  maximumSize: 4_096,
  size: (message) => telegramContent(message).length,
  request: (message, { url, chatId }) =>
    jsonRequest(url, {
      chat_id: chatId,
      text: telegramContent(message),
      link_preview_options: { is_disabled: true },
      ...telegramKeyboard(message),
    }),
  verdict: telegramVerdict,
}

const SCHEMA = 'http://adaptivecards.io/schemas/adaptive-card.json'

/** A line of plain text: a TextBlock would read markup in it. */
const lineOf = (text: string, isTitle = false) => ({
  type: 'RichTextBlock',
  ...(!isTitle && { spacing: 'None' }),
  inlines: [{ type: 'TextRun', text: text === '' ? ' ' : text, ...(isTitle && { weight: 'Bolder' }) }],
})

function cardContent({ title, text, links = [] }: RobotMessage): object {
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
const teams: RobotAdapter = {
  // 4 in a second.
  rate: { burst: 2, everyMs: 500 },
  // 28 KB, and what the workflow adds.
  maximumSize: 27_000,
  size: (message) => byteLength(JSON.stringify(cardContent(message))),
  request: (message, { url }) => jsonRequest(url, cardContent(message)),
  verdict: (reply, now) => (reply.status === 202 ? SENT : statusVerdict(reply, now)),
}

// A wrong key, a robot that was stopped, and one that is no member of its group.
const WECOM_RECEIVER_CODES = [93000, 93004, 93008]

const wecomFault = (code: number) => (WECOM_RECEIVER_CODES.includes(code) ? 'receiver' : 'message')

const WECOM_PAUSES_MS = { 45009: 60_000, '-1': 2_000 }

const wecomContent = ({ title, text }: RobotMessage) => `${title}\n${text}`

const wecom: RobotAdapter = {
  // 20 in a minute.
  rate: { burst: 10, everyMs: 6_000 },
  maximumSize: 2_048,
  size: (message) => byteLength(wecomContent(message)),
  request: (message, { url }) =>
    jsonRequest(url, { msgtype: 'text', text: { content: wecomContent(message) } }),
  verdict: (reply, now) => errcodeVerdict(reply, now, WECOM_PAUSES_MS, wecomFault),
}

const genericContent = ({ title, text, level, key }: RobotMessage) => ({ title, text, level, key })

/** The signature of body and time: HMAC-SHA256 over `<seconds>.<body>`. */
function signatureHeaders(body: string, { secret, now }: RobotTarget): Readonly<Record<string, string>> {
  if (secret === undefined) return {}
  const seconds = String(Math.floor(now / 1_000))
  const signature = createHmac('sha256', secret).update(`${seconds}.${body}`).digest('hex')
  return { 'x-platform-timestamp': seconds, 'x-platform-signature': `sha256=${signature}` }
}

/** Any webhook for JSON: 2xx is success. */
const generic: RobotAdapter = {
  // 60 in a minute: most of them at once, so that alerts of many sources are bundled only above the limit.
  rate: { burst: 40, everyMs: 3_000 },
  maximumSize: 65_536,
  size: (message) => byteLength(JSON.stringify(genericContent(message))),
  request(message, target) {
    const { body } = jsonRequest(target.url, genericContent(message))
    return jsonRequest(target.url, genericContent(message), signatureHeaders(body, target))
  },
  verdict: (reply, now) => (reply.status >= 200 && reply.status < 300 ? SENT : statusVerdict(reply, now)),
}

const SLACK_ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }

// Without angle brackets `<!channel>` notifies no one.
const escapeSlack = (text: string) =>
  text.replace(/[&<>]/g, (character) => SLACK_ENTITIES[character] ?? character)

// The answers about a webhook, its workspace or its channel, with several statuses.
const SLACK_RECEIVER_ANSWERS = [
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

const slackContent = ({ title, text }: RobotMessage) => escapeSlack(`${title}\n${text}`)

/** Below the text, which stays as it is. */
function slackButtons({ links = [] }: RobotMessage): object {
  if (links.length === 0) return {}
  const elements = links.map(({ kind, url }) => ({
    type: 'button',
    text: { type: 'plain_text', text: LINK_TEXTS[kind] },
    url,
  }))
  return { attachments: [{ fallback: '', blocks: [{ type: 'actions', elements }] }] }
}

const slack: RobotAdapter = {
  // One a second, with a margin for the network.
  rate: { burst: 1, everyMs: 1_100 },
  maximumSize: 40_000,
  size: (message) => slackContent(message).length,
  request: (message, { url }) =>
    jsonRequest(url, { text: slackContent(message), mrkdwn: false, ...slackButtons(message) }),
  verdict(reply, now) {
    if (reply.status === 200 && reply.body.trim() === 'ok') return SENT
    if (reply.status !== 200 && SLACK_RECEIVER_ANSWERS.includes(reply.body.trim()))
      return permanent(`HTTP ${reply.status} ${quote(reply.body)}`, 'receiver')
    return statusVerdict(reply, now)
  },
}

/**
 * The verdict for robots that answer HTTP 200 with an `errcode`. An answer without one is a failure: it comes from a
 * proxy before the robot. `pausesMs`: pauses by the codes that ask for one. `faultOf`: whose fault another code is.
 */
function errcodeVerdict(
  reply: RobotReply,
  now: number,
  pausesMs: Readonly<Record<string, number>>,
  faultOf: (code: number, text: string) => SendFault,
): Verdict {
  const { errcode, errmsg } = jsonFields(reply.body)
  if (reply.status !== 200 || errcode === undefined) return statusVerdict(reply, now)
  if (errcode === 0) return SENT
  const code = String(Number(errcode))
  const pauseMs = pausesMs[code]
  const text = typeof errmsg === 'string' ? errmsg : ''
  const reason = `errcode ${code}: ${quote(text)}`
  return pauseMs === undefined ? permanent(reason, faultOf(Number(code), text)) : temporary(reason, pauseMs)
}

const FEISHU_LIMIT_CODES = [11232, 99991400]
// A wrong token, signature or time, and a forbidden address of the sender.
const FEISHU_RECEIVER_CODES = [19001, 19021, 19022]
// Also the code of malformed messages; only the text differs.
const FEISHU_AMBIGUOUS_CODE = 9499
const FEISHU_PAUSE_MS = 2_000

/** As Feishu documents it: time and secret are the key, and the signed text is empty. */
function feishuSignature(seconds: string, secret: string): string {
  return createHmac('sha256', `${seconds}\n${secret}`).digest('base64')
}

// A post has no markup. In a plain text `<at user_id="all">` would notify the whole group.
function feishuContent({ title, text, links = [] }: RobotMessage): object {
  const lines: object[][] = text.split('\n').map((line) => [{ tag: 'text', text: line }])
  if (links.length > 0) lines.push(links.flatMap(({ kind, url }) => feishuLink(LINK_TEXTS[kind], url)))
  return { msg_type: 'post', content: { post: { zh_cn: { title, content: lines } } } }
}

function feishuLink(text: string, href: string): object[] {
  return [
    { tag: 'a', text, href },
    { tag: 'text', text: ' ' },
  ]
}

function isFeishuLimit(code: number, text: string, { status }: RobotReply): boolean {
  const isAmbiguous = code === FEISHU_AMBIGUOUS_CODE && /too many/i.test(text)
  return status === 429 || FEISHU_LIMIT_CODES.includes(code) || isAmbiguous
}

function feishuPauseMs({ headers }: RobotReply): number {
  const seconds = Number(headers.get('x-ogw-ratelimit-reset') ?? headers.get('retry-after'))
  return seconds > 0 ? seconds * 1_000 : FEISHU_PAUSE_MS
}

/** Feishu and Lark: HTTP 200 with code 0 in the body is success. */
function feishuVerdict(reply: RobotReply, now: number): Verdict {
  const { code, StatusCode: legacyCode, msg } = jsonFields(reply.body)
  const result = code ?? legacyCode
  if (reply.status === 200 && result === 0) return SENT
  if (result === undefined) return statusVerdict(reply, now)
  const text = typeof msg === 'string' ? msg : ''
  const reason = `code ${Number(result)}: ${quote(text)}`
  if (isFeishuLimit(Number(result), text, reply)) return temporary(reason, feishuPauseMs(reply))
  if (reply.status >= 500) return temporary(reason)
  return permanent(reason, FEISHU_RECEIVER_CODES.includes(Number(result)) ? 'receiver' : 'message')
}

export const feishu: RobotAdapter = {
  // 5 in a second and 100 in a minute.
  rate: { burst: 4, everyMs: 1_000 },
  // 20 KB less the signature.
  maximumSize: 20_000 - 200,
  size: (message) => byteLength(JSON.stringify(feishuContent(message))),
  request(message, { url, secret, now }) {
    const timestamp = String(Math.floor(now / 1_000))
    const proof = secret === undefined ? {} : { timestamp, sign: feishuSignature(timestamp, secret) }
    return jsonRequest(url, { ...proof, ...feishuContent(message) })
  },
  verdict: feishuVerdict,
}

export const ROBOT_ADAPTERS: Readonly<Record<RobotKind, RobotAdapter>> = {
  feishu,
  dingtalk,
  wecom,
  slack,
  teams,
  telegram,
  generic,
}
