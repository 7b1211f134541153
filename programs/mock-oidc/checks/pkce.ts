import { hash } from 'node:crypto'
import type { Authorization } from '../grants.ts'
import { invalidGrant, type TokenCheck } from './check.ts'

// RFC 7636, section 4.1
const CODE_VERIFIER = /^[A-Za-z0-9._~-]{43,128}$/

export const pkce: TokenCheck = {
  name: 'pkce',
  run({ grant, parameter }) {
    const reason = pkceProblem(grant?.authorization, parameter('code_verifier'))
    return reason === undefined ? undefined : invalidGrant(reason, 20049)
  },
}

function pkceProblem(
  authorization: Authorization | undefined,
  verifier: string | undefined,
): string | undefined {
  if (authorization?.codeChallenge === undefined) {
    // RFC 9700, section 4.8.2: an attacker may have removed the challenge.
    return verifier === undefined ? undefined : 'code_verifier without a code_challenge at /authorize'
  }
  if (authorization.codeChallengeMethod !== 'S256') return 'code_challenge_method at /authorize must be S256'
  if (verifier === undefined) return 'code_verifier is missing; /authorize had a code_challenge'
  if (!CODE_VERIFIER.test(verifier))
    return 'code_verifier must be 43 to 128 characters of A-Z a-z 0-9 - . _ ~'
  if (hash('sha256', verifier, 'base64url') === authorization.codeChallenge) return undefined
  return 'code_verifier does not match the code_challenge at /authorize'
}
