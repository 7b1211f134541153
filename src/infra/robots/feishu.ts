import { createHmac } from 'node:crypto'
import {
  byteLength,
  jsonRequest,
  LINK_TEXTS,
  permanent,
  SENT,
  temporary,
  type RobotAdapter,
  type RobotReply,
  type Verdict,
  jsonFields,
  quote,
  statusVerdict,
  type RobotMessage,
} from './adapter.ts'

const LIMITED_CODES = [11232, 99991400]
// A wrong token, signature or time, and a forbidden address of the sender.
const OF_RECEIVER = [19001, 19021, 19022]
// Also the code of malformed messages; only the text differs.
const AMBIGUOUS_CODE = 9499
const PAUSE_MS = 2_000

/** As Feishu documents it: time and secret are the key, and the signed text is empty. */
function signature(seconds: string, secret: string): string {
  return createHmac('sha256', `${seconds}\n${secret}`).digest('base64')
}

// A post has no markup. In a plain text `<at user_id="all">` would notify the whole group.
function content({ title, text, links = [] }: RobotMessage): object {
  const lines: object[][] = text.split('\n').map((line) => [{ tag: 'text', text: line }])
  if (links.length > 0) lines.push(links.flatMap(({ kind, url }) => linkTo(LINK_TEXTS[kind], url)))
  return { msg_type: 'post', content: { post: { zh_cn: { title, content: lines } } } }
}

function linkTo(text: string, href: string): object[] {
  return [
    { tag: 'a', text, href },
    { tag: 'text', text: ' ' },
  ]
}

function isRateLimited(code: number, text: string, { status }: RobotReply): boolean {
  const isAmbiguous = code === AMBIGUOUS_CODE && /too many/i.test(text)
  return status === 429 || LIMITED_CODES.includes(code) || isAmbiguous
}

function pauseMs({ headers }: RobotReply): number {
  const seconds = Number(headers.get('x-ogw-ratelimit-reset') ?? headers.get('retry-after'))
  return seconds > 0 ? seconds * 1_000 : PAUSE_MS
}

/** Feishu and Lark: HTTP 200 with code 0 in the body is success. */
function verdict(reply: RobotReply, now: number): Verdict {
  const { code, StatusCode: legacyCode, msg } = jsonFields(reply.body)
  const result = code ?? legacyCode
  if (reply.status === 200 && result === 0) return SENT
  if (result === undefined && reply.status !== 200) return statusVerdict(reply, now)
  if (result === undefined) return temporary(`an unknown answer: ${quote(reply.body)}`)
  const text = typeof msg === 'string' ? msg : ''
  const reason = `code ${Number(result)}: ${quote(text)}`
  if (isRateLimited(Number(result), text, reply)) return temporary(reason, pauseMs(reply))
  if (reply.status >= 500) return temporary(reason)
  return permanent(reason, OF_RECEIVER.includes(Number(result)) ? 'receiver' : 'message')
}

export const feishu: RobotAdapter = {
  // 5 in a second and 100 in a minute.
  rate: { burst: 4, everyMs: 1_000 },
  // 20 KB less the signature.
  maximumSize: 20_000 - 200,
  size: (message) => byteLength(JSON.stringify(content(message))),
  request(message, { url, secret, now }) {
    const timestamp = String(Math.floor(now / 1_000))
    const proof = secret === undefined ? {} : { timestamp, sign: signature(timestamp, secret) }
    return jsonRequest(url, { ...proof, ...content(message) })
  },
  verdict,
}
