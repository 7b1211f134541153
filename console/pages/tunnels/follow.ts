import { batch, effect } from '@preact/signals'
import { browserTiming, fetchHere } from '../../api/browser.ts'
import { callApi, errorMessage, type Fetch } from '../../api/call.ts'
import { keptToken } from '../../api/kept-token.ts'
import { toFailure } from '../../api/operations.ts'
import { startPolling, type Polling, type PollNews, type Reading } from '../../api/poll.ts'
import { signIn, type SignInResult } from '../../api/sign-in.ts'
import { describeFailure } from '../../parts/failure-words.ts'
import type { SignOutReason, TunnelsModel } from './model.ts'
import { toTunnelState, type TunnelsAnswer, type TunnelState } from './tunnel-state.ts'
import { tunnelWords } from './words.ts'

/** The ways to sign in and out, and to ask the gateway again. */
export interface SignInActions {
  signIn(username: string, password: string): Promise<SignInResult>
  useToken(token: string): void
  signOut(): void
  /** Asks at once instead of waiting for the next attempt. */
  readNow(): void
}

/** Keeps the model as the gateway says, as long as there is a token. */
export function followTunnels(model: TunnelsModel): SignInActions {
  let polling: Polling | undefined
  const signOut = (notice: SignOutReason | null) => {
    keptToken.clear()
    batch(() => {
      model.token.value = null
      model.state.value = null
      model.news.value = null
      model.selected.value = null
      model.pointed.value = null
      model.notice.value = notice
    })
  }
  const onNews = (news: PollNews<TunnelState>) => {
    if (news.kind === 'refused' && news.status === 401)
      return signOut(model.state.peek() ? 'ended' : 'refused')
    batch(() => {
      model.news.value = news
      if (news.kind === 'answer') model.state.value = news.value
      if (news.kind === 'refused') model.state.value = null
    })
  }
  effect(() => {
    const token = model.token.value
    if (token === null) return undefined
    const read = (signal: AbortSignal) => readTunnelState(fetchHere, token, signal)
    const current = startPolling({ read, onNews, ...browserTiming })
    polling = current
    return () => current.stop()
  })
  return {
    signIn: (username, password) => signIn(fetchHere, username, password),
    useToken(token) {
      keptToken.write(token)
      batch(() => {
        model.notice.value = null
        model.token.value = token
      })
    },
    signOut: () => signOut(null),
    readNow: () => polling?.readNow(),
  }
}

/** Asks the gateway for the tunnels as they are now. */
async function readTunnelState(
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
    return { kind: 'answer', value: toTunnelState(body as TunnelsAnswer) }
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error)
    return { kind: 'failed', reason: tunnelWords().unreadable(detail) }
  }
}
