import { LocationProvider } from 'preact-iso/router'
import { ConfirmHost } from '../../parts/confirm.tsx'
import { ToastHost } from '../../parts/toast.tsx'
import { CONSOLE_PATH } from './view.ts'
import { session } from './platform.ts'
import { Shell } from './shell.tsx'
import { SignInPage } from './sign-in/page.tsx'

/** The console: the sign-in page without a session, and the view that the address names with one. */
export function App() {
  if (session.token.value === null) return <SignInPage />
  return (
    <LocationProvider scope={CONSOLE_PATH}>
      <Shell />
      <ConfirmHost />
      <ToastHost />
    </LocationProvider>
  )
}
