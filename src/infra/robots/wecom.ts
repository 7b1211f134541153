import { byteLength, jsonRequest, type RobotAdapter } from './adapter.ts'
import { errcodeVerdict } from './errcode.ts'
import type { RobotMessage } from './robot.ts'

// A wrong key, a robot that was stopped, and one that is no member of its group.
const OF_RECEIVER = [93000, 93004, 93008]

const faultOf = (code: number) => (OF_RECEIVER.includes(code) ? 'receiver' : 'message')

const PAUSES_MS = { 45009: 60_000, '-1': 2_000 }

const content = ({ title, text }: RobotMessage) => `${title}\n${text}`

export const wecom: RobotAdapter = {
  // 20 in a minute.
  rate: { burst: 10, everyMs: 6_000 },
  maximumSize: 2_048,
  size: (message) => byteLength(content(message)),
  request: (message, { url }) => jsonRequest(url, { msgtype: 'text', text: { content: content(message) } }),
  verdict: (reply, now) => errcodeVerdict(reply, now, PAUSES_MS, faultOf),
}
