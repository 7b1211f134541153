import { computed, effect } from '@preact/signals'
import { LocationProvider } from 'preact-iso/router'
import { browserTiming } from '../../api/browser.ts'
import { ConfirmHost } from '../../parts/confirm.tsx'
import { forgetKeptValues } from '../../parts/form/kept-values.ts'
import { loadListsOf } from '../../parts/list/list-memory.ts'
import { ModalNotice } from '../../parts/modal.tsx'
import { ToastHost } from '../../parts/toast.tsx'
import { notifiesOfAlerts } from './alerts/alert-notices.tsx'
import { live, session } from './platform.ts'
import { Shell } from './shell.tsx'
import { EndWarning } from './sign-in/end-warning.tsx'
import { SignInAgain } from './sign-in/sign-in-again.tsx'
import { followSignOut } from './sign-out.ts'
import { CONSOLE_PATH } from './view.ts'

followSignOut()
const userId = computed(() => session.bearer.value?.id)
userId.subscribe(forgetKeptValues)
userId.subscribe(loadListsOf)
effect(() => {
  const token = session.token.value
  if (token === null) return undefined
  const stopped = new AbortController()
  void live.follow(token, stopped.signal)
  return () => stopped.abort()
})
const followWhileSeen = () => (browserTiming.isHidden() && !notifiesOfAlerts() ? live.pause() : live.resume())
followWhileSeen()
document.addEventListener('visibilitychange', followWhileSeen)
// A page that the browser keeps for "Back" is not hidden in every case.
addEventListener('pagehide', () => live.pause())
addEventListener('pageshow', followWhileSeen)
addEventListener('online', followWhileSeen)

/** What a user sees: the view that the address names. */
export function SignedIn() {
  return (
    <LocationProvider scope={CONSOLE_PATH}>
      <ModalNotice.Provider value={<EndWarning />}>
        <Shell />
        <ConfirmHost />
      </ModalNotice.Provider>
      <ToastHost />
      <SignInAgain />
    </LocationProvider>
  )
}
