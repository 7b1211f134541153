import { createHmac } from 'node:crypto'
import { byteLength, jsonRequest, type RobotAdapter } from './adapter.ts'
import { errcodeVerdict } from './errcode.ts'
import type { RobotMessage } from './robot.ts'

// Too many messages silence a robot for ten minutes.
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
  verdict: (reply, now) => errcodeVerdict(reply, now, PAUSES_MS),
}
