import { LocationProvider } from 'preact-iso/router'
import { ConfirmHost } from '../../parts/confirm.tsx'
import { ModalNotice } from '../../parts/modal.tsx'
import { ToastHost } from '../../parts/toast.tsx'
import { CONSOLE_PATH } from './view.ts'
import { session } from './platform.ts'
import { Shell } from './shell.tsx'
import { EndWarning } from './sign-in/end-warning.tsx'
import { SignInPage } from './sign-in/page.tsx'
import { SignInAgain } from './sign-in/sign-in-again.tsx'

/**
 * The console: the sign-in page without a user, and the view that the address names with one. Another user begins with
 * nothing of the former one.
 */
export function App() {
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
