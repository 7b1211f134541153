import { batch, effect } from '@preact/signals'
import { browserTiming } from '../../api/browser.ts'
import { keptToken } from '../../api/kept-token.ts'
import { startPolling, type Polling, type PollNews } from '../../api/poll.ts'
import { signIn, type SignInResult } from '../../api/sign-in.ts'
import type { TunnelsModel } from './model.ts'
import { readTunnelState } from './read-state.ts'
import type { TunnelState } from './tunnel-state.ts'

/** What the reader of the page can do about being signed in. */
export interface SignInActions {
  signIn(username: string, password: string): Promise<SignInResult>
  useToken(token: string): void
  signOut(notice?: string): void
  /** Asks at once instead of waiting for the next attempt. */
  readNow(): void
}

const fetchHere = (path: string, init: RequestInit) => fetch(path, init)

/** Keeps the model as the gateway says, as long as there is a token. */
export function followTunnels(model: TunnelsModel): SignInActions {
  let polling: Polling | undefined
  const signOut = (notice?: string) => {
    keptToken.clear()
    batch(() => {
      model.token.value = null
      model.state.value = null
      model.news.value = null
      model.selected.value = null
      model.pointed.value = null
      model.notice.value = notice ?? null
    })
  }
  const onNews = (news: PollNews<TunnelState>) => {
    if (news.kind === 'refused' && news.status === 401) return signOut(refusedNotice(model))
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
    signOut,
    readNow: () => polling?.readNow(),
  }
}

function refusedNotice({ state }: TunnelsModel): string {
  return state.peek()
    ? 'Your sign-in has ended: the gateway does not accept the token any more. Sign in again to go on.'
    : 'The gateway does not accept this token. It may have expired, or be of another platform.'
}
