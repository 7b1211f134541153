import { signal } from '@preact/signals'
import { render, type ComponentType } from 'preact'
import { applyPreferences } from '../../parts/preferences.ts'
import { markHiddenCharacters } from '../../parts/visible-text.ts'
import { loadUntilThere } from './lazy-page.ts'
import { offerSessionToNewTabs, offerSessionToWaitingTab, takeSession } from './new-tabs.ts'
import { session } from './platform.ts'
import { redeemTicket } from './provider.ts'
import { SignInPage } from './sign-in/page.tsx'

const root = document.getElementById('page')
if (!root) throw new Error('The document has no element with the id "page".')

/** What a user sees, loaded beside the page of the sign-in. */
const signedIn = signal<ComponentType | null>(null)
void loadUntilThere(() => import('./signed-in.tsx')).then(({ SignedIn }) => (signedIn.value = SignedIn))

applyPreferences()
markHiddenCharacters()
offerSessionToNewTabs()
if (await redeemTicket()) offerSessionToWaitingTab()
await takeSession()
render(<App />, root)

/**
 * The console: the sign-in page without a user, and the view that the address names with one. Another user begins with
 * nothing of the former one.
 */
function App() {
  const user = session.bearer.value
  if (user === null) return <SignInPage />
  const SignedIn = signedIn.value
  return SignedIn && <SignedIn key={user.id} />
}
