import { fetchHere } from '../../../api/browser.ts'
import { signIn, type SignInResult } from '../../../api/sign-in.ts'

export function signInByPassword(username: string, password: string): Promise<SignInResult> {
  return signIn(fetchHere, username, password)
}
