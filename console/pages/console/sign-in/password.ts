import { signIn, type SignInResult } from '../../../api/sign-in.ts'

const fetchHere = (path: string, init: RequestInit) => fetch(path, init)

export function signInByPassword(username: string, password: string): Promise<SignInResult> {
  return signIn(fetchHere, username, password)
}
