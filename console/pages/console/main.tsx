import { signal } from '@preact/signals'
import { render, type ComponentType } from 'preact'
import { applyPreferences } from '../../parts/preferences.ts'
import { markHiddenCharacters } from '../../parts/visible-text.ts'
import { loadUntilThere } from './lazy-page.ts'
import { offerSessionToNewTabs, offerSessionToWaitingTab, takeSession } from './new-tabs.ts'
import { session } from './platform.ts'
import { redeemTicket } from './provider.ts'
import { SignInPage } from './sign-in/page.tsx'
import { CONSOLE_PATH, pathOf } from './view.ts'

const root = document.getElementById('page')
if (!root) throw new Error('The document has no element with the id "page".')

/** The console of a signed-in user, loaded at the same time as the page for the sign-in. */
const signedIn = signal<ComponentType | null>(null)
void loadUntilThere(() => import('./signed-in.tsx')).then(({ SignedIn }) => (signedIn.value = SignedIn))
// Most visits begin with the overview: it is loaded at the same time as the rest.
const FIRST_PATHS: readonly string[] = [CONSOLE_PATH, `${CONSOLE_PATH}/`, pathOf('overview')]
if (FIRST_PATHS.includes(location.pathname)) void import('./overview/page.tsx').catch(() => {})

applyPreferences()
markHiddenCharacters()
offerSessionToNewTabs()
if (await redeemTicket()) offerSessionToWaitingTab()
await takeSession()
render(<App />, root)

/**
 * Shows the sign-in page while nobody is signed in, else the view that the address names. The key makes a new view for each
 * user, who sees nothing of the one before.
 */
function App() {
  const user = session.bearer.value
  if (user === null) return <SignInPage />
  const SignedIn = signedIn.value
  return SignedIn && <SignedIn key={user.id} />
}
