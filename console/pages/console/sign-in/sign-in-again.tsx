import { signal } from '@preact/signals'
import { useEffect, useLayoutEffect } from 'preact/hooks'
import { Button } from '../../../parts/button.tsx'
import { Modal } from '../../../parts/modal.tsx'
import { SignInCard } from '../../../parts/sign-in-form.tsx'
import { topBarWords } from '../../../parts/top-bar-words.ts'
import { askForSignIn } from '../new-tabs.ts'
import { session } from '../platform.ts'
import { hasProvider } from '../provider.ts'
import { signInByPassword } from './password.ts'
import { ProviderLink } from './provider-link.tsx'
import { signInPageWords } from './words.ts'

/** Whether the user wants to sign in again before the session ends. */
const isRenewing = signal(false)

export function renewSession(): void {
  isRenewing.value = true
}

/** Asks for another sign-in over the page, which keeps what is typed there, after the session has ended or before. */
export function SignInAgain() {
  const isInterrupted = session.isInterrupted.value
  if (!isInterrupted && !isRenewing.value) return null
  return <SignInDialog key={String(isInterrupted)} isInterrupted={isInterrupted} />
}

function SignInDialog({ isInterrupted }: { readonly isInterrupted: boolean }) {
  const words = signInPageWords()
  useLayoutEffect(
    () => document.querySelector<HTMLElement>('.modal-cover input[name="password"]')?.focus(),
    [],
  )
  const close = () => (isRenewing.value = false)
  const onToken = (token: string) => {
    close()
    session.signIn(token)
  }
  useSignInElsewhere(onToken)
  return (
    <Modal label={words.signInAgain} kind="cover" onClose={close}>
      <SignInCard
        title={words.title}
        purpose={words.again}
        notice={isInterrupted ? words.refused : null}
        username={session.bearer.value?.name ?? ''}
        signIn={signInByPassword}
        onToken={onToken}
      >
        <ProviderLink isNewTab />
        <Button onClick={isInterrupted ? () => session.signOut() : close}>
          {isInterrupted ? topBarWords().signOut : words.later}
        </Button>
      </SignInCard>
    </Modal>
  )
}

const LOOK_MS = 1_000

/** Takes the session of the tab in which the same user signs in with the provider. */
function useSignInElsewhere(onToken: (token: string) => void): void {
  useEffect(() => {
    if (!hasProvider()) return undefined
    const look = async () => {
      const token = await askForSignIn(session.bearer.peek()?.id ?? '')
      if (token !== null) onToken(token)
    }
    const timer = setInterval(() => void look(), LOOK_MS)
    return () => clearInterval(timer)
  }, [])
}
