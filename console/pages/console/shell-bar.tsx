import type { Signal } from '@preact/signals'
import type { LiveState } from '../../api/live.ts'
import { Icon } from '../../parts/icon.tsx'
import type { LivenessProps, LivenessTone } from '../../parts/liveness.tsx'
import { TopBar } from '../../parts/top-bar.tsx'
import { live, session } from './platform.ts'
import { shellWords } from './shell-words.ts'
import { signOut } from './sign-out.ts'
import type { Overlay } from './use-shell-actions.ts'

/** The top bar, with the buttons of the menu and of the search. */
export function ShellBar({ overlay }: { readonly overlay: Signal<Overlay | null> }) {
  const words = shellWords()
  return (
    <TopBar
      title={words.console}
      isHeading={false}
      liveness={livenessOf(live.state.value)}
      bearer={session.bearer.value}
      onSignOut={() => void signOut()}
      start={
        <button
          class="button button-icon menu-button"
          type="button"
          aria-label={words.menu}
          onClick={() => (overlay.value = 'menu')}
        >
          <Icon name="menu" />
        </button>
      }
    >
      <button class="search-button" type="button" onClick={() => (overlay.value = 'palette')}>
        <Icon name="search" />
        <span class="search-label">{words.search}</span>
        <kbd>Ctrl K</kbd>
      </button>
    </TopBar>
  )
}

const TONES: Readonly<Record<LiveState, LivenessTone>> = {
  connecting: 'waiting',
  live: 'live',
  broken: 'stale',
  off: 'paused',
}

function livenessOf(state: LiveState): LivenessProps {
  const words = shellWords()
  return {
    tone: TONES[state],
    text: words.live[state],
    retry: state === 'broken' && { label: words.reconnect, run: () => live.resume() },
  }
}
