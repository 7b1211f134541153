import { signal } from '@preact/signals'
import type { ApiFailure } from '../../api/operations.ts'
import { call, session } from './platform.ts'

/** Why the sign-in with the provider did not succeed at its end. */
export const ticketFailure = signal<ApiFailure | null>(null)

/** Whether people may sign in with an OpenID provider; the server writes it into the page. */
export function hasProvider(): boolean {
  return document.querySelector<HTMLMetaElement>('meta[name="sign-in-provider"]')?.content === 'true'
}

/** Where a sign-in with the provider begins. It leads back to the present view. */
export function providerAddress(): string {
  const returnTo = location.pathname + location.search
  return `/auth/oauth/login?${new URLSearchParams({ return_to: returnTo }).toString()}`
}

/** Where the session of the browser with the provider ends. */
export const PROVIDER_SIGN_OUT = '/auth/oauth/logout'

const FRAGMENT = /^#signed-in=([\w-]+)$/

/** Finishes a sign-in with the provider: its ticket is in the fragment, and is removed from the address and the history. False if there is none, or if it is refused. */
export async function redeemTicket(): Promise<boolean> {
  const ticket = FRAGMENT.exec(location.hash)?.[1]
  if (ticket === undefined) return false
  history.replaceState(null, '', location.pathname + location.search)
  const result = await call('redeemTicket', { body: { ticket } })
  if (result.ok) session.signIn(result.value.access_token)
  else ticketFailure.value = result.failure
  return result.ok
}
