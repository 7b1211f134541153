import { SENT, type RobotReply, type Verdict } from './adapter.ts'
import { jsonFields, quote, statusVerdict } from './replies.ts'

/**
 * The verdict for robots that answer HTTP 200 with an `errcode`. An answer without one is a failure: it comes from a
 * proxy before the robot. `pausesMs`: pauses by the codes that ask for one.
 */
export function errcodeVerdict(
  reply: RobotReply,
  now: number,
  pausesMs: Readonly<Record<string, number>>,
): Verdict {
  const { errcode, errmsg } = jsonFields(reply.body)
  if (reply.status !== 200) return statusVerdict(reply, now)
  if (errcode === 0) return SENT
  if (errcode === undefined)
    return { sent: false, reason: `an unknown answer: ${quote(reply.body)}`, retryable: true }
  const code = String(Number(errcode))
  const pauseMs = pausesMs[code]
  const reason = `errcode ${code}: ${quote(typeof errmsg === 'string' ? errmsg : '')}`
  return pauseMs === undefined
    ? { sent: false, reason, retryable: false }
    : { sent: false, reason, retryable: true, pauseMs }
}
