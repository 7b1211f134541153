import { useLayoutEffect } from 'preact/hooks'
import { SignInForm } from '../../../parts/sign-in-form.tsx'
import { usePageTitle } from '../../../parts/tab-title.ts'
import { session } from '../platform.ts'
import { ticketFailure } from '../provider.ts'
import { signInByPassword } from './password.ts'
import { ProviderLink } from './provider-link.tsx'
import { signInPageWords } from './words.ts'

/** The way into the console; afterwards it shows the view that the address names. */
export function SignInPage() {
  const words = signInPageWords()
  usePageTitle(words.title)
  // The page has no other purpose.
  useLayoutEffect(() => document.querySelector<HTMLElement>('input[name="username"]')?.focus(), [])
  return (
    <SignInForm
      title={words.title}
      purpose={words.purpose}
      notice={ticketFailure.value ? words.ticketRefused : null}
      signIn={signInByPassword}
      onToken={(token) => session.signIn(token)}
    >
      <ProviderLink />
    </SignInForm>
  )
}
