import { computed, effect } from '@preact/signals'
import { render } from 'preact'
import { browserTiming } from '../../api/browser.ts'
import { App } from './app.tsx'
import { forgetKeptValues } from '../../parts/form/kept-values.ts'
import { applyPreferences } from '../../parts/preferences.ts'
import { markHiddenCharacters } from '../../parts/visible-text.ts'
import { offerSessionToNewTabs, offerSessionToWaitingTab, takeSession } from './new-tabs.ts'
import { live, session } from './platform.ts'
import { redeemTicket } from './provider.ts'
import { followSignOut } from './sign-out.ts'

const root = document.getElementById('page')
if (!root) throw new Error('The document has no element with the id "page".')

applyPreferences()
markHiddenCharacters()
offerSessionToNewTabs()
followSignOut()
if (await redeemTicket()) offerSessionToWaitingTab()
await takeSession()
computed(() => session.bearer.value?.id).subscribe(forgetKeptValues)
effect(() => {
  const token = session.token.value
  if (token === null) return undefined
  const stopped = new AbortController()
  void live.follow(token, stopped.signal)
  return () => stopped.abort()
})
const followWhileSeen = () => (browserTiming.isHidden() ? live.pause() : live.resume())
followWhileSeen()
document.addEventListener('visibilitychange', followWhileSeen)
// A page that the browser keeps for "Back" is not hidden in every case.
addEventListener('pagehide', () => live.pause())
addEventListener('pageshow', followWhileSeen)
addEventListener('online', followWhileSeen)
render(<App />, root)
