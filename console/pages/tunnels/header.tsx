import { TopBar } from '../../parts/top-bar.tsx'
import type { LivenessProps } from '../../parts/liveness.tsx'
import type { PollNews } from '../../api/poll.ts'
import type { PageProps } from './page-props.ts'
import { formatDuration } from '../../parts/format.ts'
import type { TunnelState } from './tunnel-state.ts'
import { tunnelWords } from './words.ts'

/** Whether the page is up to date, who is signed in, and the way out. */
export function Header({ model, session }: PageProps) {
  const { title, tryNow } = tunnelWords()
  const news = model.news.value
  return (
    <TopBar
      title={title}
      liveness={{
        ...livenessOf(news, model.state.value !== null),
        retry: news?.kind === 'waiting' && { label: tryNow, run: () => session.readNow() },
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
  const { live, lastAnswer, nextAttempt } = tunnelWords()
  switch (news?.kind) {
    case 'answer':
      return { tone: 'live', text: live.answer }
    case 'paused':
      return { tone: 'paused', text: live.paused }
    case 'refused':
      return { tone: 'stale', text: live.refused }
    case 'waiting': {
      const texts = [news.reason, hasState && lastAnswer, nextAttempt(formatDuration(news.retryInMs))]
      return { tone: 'stale', text: texts.filter(Boolean).join(' ') }
    }
    case undefined:
      return { tone: 'waiting', text: live.connecting }
  }
}
