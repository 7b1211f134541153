import type { SendFault } from '../../ports/notification-channel.ts'
import { permanent, SENT, temporary, type RobotReply, type Verdict } from './adapter.ts'
import { jsonFields, quote, statusVerdict } from './replies.ts'

/**
 * The verdict for robots that answer HTTP 200 with an `errcode`. An answer without one is a failure: it comes from a
 * proxy before the robot. `pausesMs`: pauses by the codes that ask for one. `faultOf`: whose fault another code is.
 */
export function errcodeVerdict(
  reply: RobotReply,
  now: number,
  pausesMs: Readonly<Record<string, number>>,
  faultOf: (code: number, text: string) => SendFault,
): Verdict {
  const { errcode, errmsg } = jsonFields(reply.body)
  if (reply.status !== 200) return statusVerdict(reply, now)
  if (errcode === 0) return SENT
  if (errcode === undefined) return temporary(`an unknown answer: ${quote(reply.body)}`)
  const code = String(Number(errcode))
  const pauseMs = pausesMs[code]
  const text = typeof errmsg === 'string' ? errmsg : ''
  const reason = `errcode ${code}: ${quote(text)}`
  return pauseMs === undefined ? permanent(reason, faultOf(Number(code), text)) : temporary(reason, pauseMs)
}
