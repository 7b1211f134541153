import { computed, effect } from '@preact/signals'
import { render } from 'preact'
import { LocationProvider } from 'preact-iso/router'
import { browserTiming } from '../../api/browser.ts'
import { ConfirmHost } from '../../parts/confirm.tsx'
import { forgetKeptValues } from '../../parts/form/kept-values.ts'
import { rememberListsOf } from '../../parts/list/list-memory.ts'
import { ModalNotice } from '../../parts/modal.tsx'
import { applyPreferences } from '../../parts/preferences.ts'
import { ToastHost } from '../../parts/toast.tsx'
import { markHiddenCharacters } from '../../parts/visible-text.ts'
import { notifiesOfAlerts } from './alerts/alert-notices.tsx'
import { offerSessionToNewTabs, offerSessionToWaitingTab, takeSession } from './new-tabs.ts'
import { live, session } from './platform.ts'
import { redeemTicket } from './provider.ts'
import { Shell } from './shell.tsx'
import { EndWarning } from './sign-in/end-warning.tsx'
import { SignInPage } from './sign-in/page.tsx'
import { SignInAgain } from './sign-in/sign-in-again.tsx'
import { followSignOut } from './sign-out.ts'
import { CONSOLE_PATH } from './view.ts'

const root = document.getElementById('page')
if (!root) throw new Error('The document has no element with the id "page".')

applyPreferences()
markHiddenCharacters()
offerSessionToNewTabs()
followSignOut()
if (await redeemTicket()) offerSessionToWaitingTab()
await takeSession()
const userId = computed(() => session.bearer.value?.id)
userId.subscribe(forgetKeptValues)
userId.subscribe(rememberListsOf)
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
render(<App />, root)

/**
 * The console: the sign-in page without a user, and the view that the address names with one. Another user begins with
 * nothing of the former one.
 */
function App() {
  const user = session.bearer.value
  if (user === null) return <SignInPage />
  return (
    <LocationProvider key={user.id} scope={CONSOLE_PATH}>
      <ModalNotice.Provider value={<EndWarning />}>
        <Shell />
        <ConfirmHost />
      </ModalNotice.Provider>
      <ToastHost />
      <SignInAgain />
    </LocationProvider>
  )
}
