import { useEffect } from 'preact/hooks'
import { signIn } from '../../../api/sign-in.ts'
import { SignInForm } from '../../../parts/sign-in-form.tsx'
import { session } from '../platform.ts'
import { hasProvider, providerAddress, ticketFailure } from '../provider.ts'
import { signInPageWords } from './words.ts'

const fetchHere = (path: string, init: RequestInit) => fetch(path, init)

/** The way into the console; afterwards it shows the view that the address names. */
export function SignInPage() {
  const words = signInPageWords()
  useEffect(() => void (document.title = words.title), [words])
  // The page has no other purpose.
  useEffect(() => document.querySelector<HTMLElement>('input[name="username"]')?.focus(), [])
  return (
    <SignInForm
      title={words.title}
      purpose={words.purpose}
      notice={noticeText()}
      signIn={(username, password) => signIn(fetchHere, username, password)}
      onToken={(token) => session.signIn(token)}
    >
      {hasProvider() && (
        <a class="button provider-link" href={providerAddress()}>
          {words.withProvider}
        </a>
      )}
    </SignInForm>
  )
}

function noticeText(): string | null {
  const words = signInPageWords()
  if (session.end.value === 'refused') return words.refused
  return ticketFailure.value ? words.ticketRefused : null
}
