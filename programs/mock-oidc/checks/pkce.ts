import { hash } from 'node:crypto'
import { badGrant, type TokenCheck } from './check.ts'

// RFC 7636, section 4.1
const CODE_VERIFIER = /^[A-Za-z0-9._~-]{43,128}$/

export const pkce: TokenCheck = {
  name: 'pkce',
  judge({ grant, parameter }) {
    const because = pkceFault(grant?.authorization, parameter('code_verifier'))
    return because === undefined ? undefined : badGrant(because, 20049)
  },
}

function pkceFault(
  asked: { codeChallenge: string | undefined; codeChallengeMethod: string | undefined } | undefined,
  verifier: string | undefined,
): string | undefined {
  if (asked?.codeChallenge === undefined) {
    // RFC 9700, section 4.8.2: a verifier without a challenge means that somebody took the challenge away.
    return verifier === undefined
      ? undefined
      : 'there is a code_verifier, but /authorize had no code_challenge'
  }
  if (asked.codeChallengeMethod !== 'S256') return 'the code_challenge_method of /authorize must be S256'
  if (verifier === undefined) return 'code_verifier is missing, and /authorize had a code_challenge'
  if (!CODE_VERIFIER.test(verifier)) return 'code_verifier must be 43 to 128 of A-Z a-z 0-9 - . _ ~'
  if (hash('sha256', verifier, 'base64url') === asked.codeChallenge) return undefined
  return 'the S256 of code_verifier is not the code_challenge of /authorize'
}
