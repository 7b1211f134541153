import { callApi, errorMessage, type Fetch } from '../../api/call.ts'
import { toFailure } from '../../api/operations.ts'
import type { Reading } from '../../api/poll.ts'
import { describeFailure } from '../../parts/failure-words.ts'
import { parseTunnelState, type TunnelState } from './tunnel-state.ts'
import { tunnelWords } from './words.ts'

/** Asks the gateway for the tunnels as they are now. */
export async function readTunnelState(
  fetch: Fetch,
  token: string,
  signal: AbortSignal,
): Promise<Reading<TunnelState>> {
  const result = await callApi(
    fetch,
    '/tunnels/state',
    { headers: { authorization: `Bearer ${token}` } },
    signal,
  )
  if (result.kind === 'unanswered') return { kind: 'failed', reason: tunnelWords().unreachable }
  const { status, body, retryAfter } = result
  if (status === 401 || status === 403)
    return { kind: 'refused', status, message: errorMessage(status, body) }
  if (status !== 200) return { kind: 'failed', reason: describeFailure(toFailure(status, body, retryAfter)) }
  try {
    return { kind: 'answer', value: parseTunnelState(body) }
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error)
    return { kind: 'failed', reason: tunnelWords().unreadable(detail) }
  }
}
