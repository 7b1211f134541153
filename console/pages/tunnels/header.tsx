import { TopBar } from '../../parts/top-bar.tsx'
import type { LivenessProps } from '../../parts/liveness.tsx'
import type { PollNews } from '../../api/poll.ts'
import type { PageProps } from './page-props.ts'
import { formatDuration } from '../../parts/format.ts'
import type { TunnelState } from './tunnel-state.ts'

/** Whether the page is up to date, who is signed in, and the way out. */
export function Header({ model, session }: PageProps) {
  const news = model.news.value
  return (
    <TopBar
      title="Tunnels"
      liveness={{
        ...livenessOf(news, model.state.value !== null),
        retry: news?.kind === 'waiting' && { label: 'Try now', run: () => session.readNow() },
      }}
      bearer={model.bearer.value}
      onSignOut={() => session.signOut()}
    />
  )
}

function livenessOf(
  news: PollNews<TunnelState> | null,
  hasState: boolean,
): Pick<LivenessProps, 'tone' | 'text'> {
  switch (news?.kind) {
    case 'answer':
      return { tone: 'live', text: 'Live' }
    case 'paused':
      return { tone: 'paused', text: 'Paused' }
    case 'refused':
      return { tone: 'stale', text: 'No access' }
    case 'waiting':
      return { tone: 'stale', text: waitingText(news.reason, news.retryInMs, hasState) }
    case undefined:
      return { tone: 'waiting', text: 'Connecting …' }
  }
}

function waitingText(reason: string, retryInMs: number, hasState: boolean): string {
  const shown = hasState ? ' What you see is the last answer.' : ''
  return `${reason}${shown} Next attempt in ${formatDuration(retryInMs)}.`
}
