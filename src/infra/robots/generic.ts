import { createHmac } from 'node:crypto'
import { byteLength, jsonRequest, SENT, type RobotAdapter, type RobotTarget } from './adapter.ts'
import { statusVerdict } from './replies.ts'
import type { RobotMessage } from './robot.ts'

const content = ({ title, text, level, key }: RobotMessage) => ({ title, text, level, key })

/** The signature of body and time: HMAC-SHA256 over `<seconds>.<body>`. */
function signatureHeaders(body: string, { secret, now }: RobotTarget): Readonly<Record<string, string>> {
  if (secret === undefined) return {}
  const seconds = String(Math.floor(now / 1_000))
  const signature = createHmac('sha256', secret).update(`${seconds}.${body}`).digest('hex')
  return { 'x-platform-timestamp': seconds, 'x-platform-signature': `sha256=${signature}` }
}

/** Any webhook for JSON: 2xx is success. */
export const generic: RobotAdapter = {
  // 60 in a minute: most of them at once, so that alerts of many sources are bundled only above the limit.
  rate: { burst: 40, everyMs: 3_000 },
  maximumSize: 65_536,
  size: (message) => byteLength(JSON.stringify(content(message))),
  request(message, target) {
    const { body } = jsonRequest(target.url, content(message))
    return jsonRequest(target.url, content(message), signatureHeaders(body, target))
  },
  verdict: (reply, now) => (reply.status >= 200 && reply.status < 300 ? SENT : statusVerdict(reply, now)),
}
