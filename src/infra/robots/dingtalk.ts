import { createHmac } from 'node:crypto'
import { byteLength, jsonRequest, type RobotAdapter } from './adapter.ts'
import { errcodeVerdict } from './errcode.ts'
import type { RobotMessage } from './robot.ts'

// Too many messages silence a robot for ten minutes.
// Unknown tokens, and robots or groups that are gone.
const OF_RECEIVER = [300001, 300005, 400013, 400101, 400102, 400106]
// One code for a missing keyword, a wrong signature or time, and a forbidden address; only the text differs.
const SECURITY_CODE = 310000

const faultOf = (code: number, text: string) =>
  OF_RECEIVER.includes(code) || (code === SECURITY_CODE && !/keyword/i.test(text)) ? 'receiver' : 'message'

const PAUSES_MS = { 130101: 600_000, 410100: 600_000, '-1': 2_000 }

function signedUrl(url: string, secret: string | undefined, now: number): string {
  if (secret === undefined) return url
  const signed = new URL(url)
  signed.searchParams.set('timestamp', String(now))
  signed.searchParams.set('sign', createHmac('sha256', secret).update(`${now}\n${secret}`).digest('base64'))
  return signed.href
}

// Plain text: markup in a title must not become a link or an image.
const content = ({ title, text }: RobotMessage) => ({
  msgtype: 'text',
  text: { content: `${title}\n${text}` },
})

export const dingtalk: RobotAdapter = {
  // 20 in a minute.
  rate: { burst: 10, everyMs: 6_000 },
  maximumSize: 20_000,
  size: (message) => byteLength(JSON.stringify(content(message))),
  request: (message, { url, secret, now }) => jsonRequest(signedUrl(url, secret, now), content(message)),
  verdict: (reply, now) => errcodeVerdict(reply, now, PAUSES_MS, faultOf),
}
