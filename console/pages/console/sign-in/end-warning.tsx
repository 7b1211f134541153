import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { serverClock } from '../../../api/browser.ts'
import { readLifetime, warningTime, type TokenLifetime } from '../../../api/token.ts'
import { localWhen } from '../../../i18n/local.ts'
import { Button } from '../../../parts/button.tsx'
import { Icon } from '../../../parts/icon.tsx'
import { session } from '../platform.ts'
import { renewSession } from './sign-in-again.tsx'
import { signInPageWords } from './words.ts'

/** Says some minutes before the session ends that it does, with a way to go on. */
export function EndWarning() {
  const words = signInPageWords()
  const token = session.token.value
  const lifetime = token === null ? null : readLifetime(token)
  if (!useIsEnding(lifetime) || !lifetime) return null
  return (
    <div class="page-notice" role="status">
      <Icon name="warning" />
      <span class="page-notice-text">{words.endsAt(localWhen(lifetime.expiresAt, serverClock.now()))}</span>
      <Button onClick={renewSession}>{words.signInAgain}</Button>
    </div>
  )
}

// A timer for the whole time would stand still while the computer sleeps.
const LOOK_MS = 5_000

function useIsEnding(lifetime: TokenLifetime | null): boolean {
  const isEnding = useSignal(false)
  const warnedAt = lifetime && warningTime(lifetime)
  const isTimeKnown = serverClock.offsetMs.value !== null
  useEffect(() => {
    const look = () => (isEnding.value = isTimeKnown && warnedAt !== null && serverClock.now() >= warnedAt)
    look()
    const timer = setInterval(look, LOOK_MS)
    return () => clearInterval(timer)
  }, [warnedAt, isTimeKnown])
  return isEnding.value
}
