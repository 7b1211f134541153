import { monotonic } from '../../api/browser.ts'
import { TokenHandover } from '../../api/token-handover.ts'
import { session } from './platform.ts'
import { CONSOLE_PATH } from './view.ts'

// A new tab loads at once after a click, or after its user has chosen from the menu of the link.
const CLICK_MS = 10_000
const MENU_MS = 60_000
// The waiting tab asks for the session after the sign-in with the provider in this one.
const SIGNED_IN_MS = 60_000
const ANSWER_MS = 300

const handover = new TokenHandover({
  channel: new BroadcastChannel('platform.token'),
  now: monotonic,
  token: () => session.token.peek(),
})

/** Whoever opens a link of the console in a new tab is signed in there, too: each tab has a session of its own. */
export function offerSessionToNewTabs(): void {
  const offer = (event: MouseEvent, ms: number) => {
    const link = event.target instanceof Element ? event.target.closest('a') : null
    if (link?.origin === location.origin && link.pathname.startsWith(CONSOLE_PATH))
      handover.offer(link.pathname + link.search, ms)
  }
  const isNewTab = ({ ctrlKey, metaKey, shiftKey, target }: MouseEvent) =>
    ctrlKey || metaKey || shiftKey || (target instanceof HTMLAnchorElement && target.target === '_blank')
  document.addEventListener('click', (event) => isNewTab(event) && offer(event, CLICK_MS))
  document.addEventListener('auxclick', (event) => offer(event, CLICK_MS))
  document.addEventListener('contextmenu', (event) => offer(event, MENU_MS))
}

/** Takes the session of the tab from whose link this one was opened. */
export async function takeSession(): Promise<void> {
  if (session.bearer.peek() !== null) return
  const token = await handover.ask(location.pathname + location.search, ANSWER_MS)
  if (token !== null) session.signIn(token)
}

const purposeOf = (userId: string) => `sign-in of ${userId}`

/** Gives the session to the tab that waits for a sign-in of its user with the provider. */
export function offerSessionToWaitingTab(): void {
  handover.offer(purposeOf(session.bearer.peek()?.id ?? ''), SIGNED_IN_MS)
}

/** The session of another tab, in which the same user has signed in with the provider. */
export function askForSignIn(userId: string): Promise<string | null> {
  return handover.ask(purposeOf(userId), ANSWER_MS)
}
