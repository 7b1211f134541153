/** What a page of a failed sign-in says. */
interface FailureText {
  readonly status: number
  readonly title: string
  /** What has happened. */
  readonly explanation: string
  /** What the person can do. */
  readonly advice: string
}

const ASK_ADMINISTRATOR = 'Ask an administrator of the platform'

/** Every way in which a sign-in can fail, with the page that the browser shows. */
export const SIGN_IN_FAILURES = {
  provider_refused: {
    status: 400,
    title: 'The provider refused the sign-in',
    explanation:
      'Your identity provider did not confirm who you are. Perhaps the sign-in was cancelled there.',
    advice: `Sign in again. If it is refused again, ask an administrator whether you may use the platform.`,
  },
  wrong_state: {
    status: 400,
    title: 'This sign-in does not belong to this browser',
    explanation:
      'The answer of your identity provider does not match a sign-in that this browser has begun at this address.',
    advice:
      'Sign in again, in one browser that accepts cookies, at the same address from the beginning to the end.',
  },
  expired: {
    status: 400,
    title: 'The sign-in took too long',
    explanation: 'A sign-in has to be finished within 10 minutes.',
    advice: 'Sign in again.',
  },
  replayed: {
    status: 400,
    title: 'This sign-in was already used',
    explanation: 'An answer of the identity provider can be used once. Perhaps this page was reloaded.',
    advice: 'Sign in again.',
  },
  unknown_user: {
    status: 403,
    title: 'The platform does not know you',
    explanation:
      'Your identity provider has confirmed who you are, but the platform has no user of that name.',
    advice: `${ASK_ADMINISTRATOR} to create a user for you.`,
  },
  unusable_name: {
    status: 403,
    title: 'Your name at the provider cannot be a name here',
    explanation:
      'A name on the platform has 1 to 254 letters from A to Z, digits and . _ @ + -, and the value of your provider has others:',
    advice: `${ASK_ADMINISTRATOR} to set auth.oidc.user_claim to a claim with such a value, for example preferred_username or email.`,
  },
  unverified_address: {
    status: 403,
    title: 'Your e-mail address is not verified',
    explanation:
      'Your identity provider says that it has not verified your e-mail address, which is your name here.',
    advice: 'Verify the address at your identity provider, then sign in again.',
  },
  no_role: {
    status: 403,
    title: 'You have no role on the platform',
    explanation:
      'Your identity provider has confirmed who you are, but it gives you no role on the platform.',
    advice: `${ASK_ADMINISTRATOR}, or of the identity provider, for a role.`,
  },
  user_disabled: {
    status: 403,
    title: 'Your user is disabled',
    explanation: 'The platform knows you, but your user is disabled.',
    advice: `${ASK_ADMINISTRATOR} to enable it.`,
  },
  last_admin: {
    status: 403,
    title: 'The platform would have no administrator',
    explanation:
      'Your identity provider does not give you the role admin, and you are the last enabled admin of the platform.',
    advice: 'Give another user the role admin first, or give the role back at the identity provider.',
  },
  answer_unusable: {
    status: 502,
    title: 'The answer of the provider cannot be used',
    explanation: 'Your identity provider answered with something that the platform does not accept.',
    advice: 'Sign in again in a minute. If it fails again, ask an administrator of the platform.',
  },
  provider_unreachable: {
    status: 502,
    title: 'The identity provider does not answer',
    explanation: 'The platform could not reach your identity provider.',
    advice: 'Sign in again in a minute. If it fails again, ask an administrator of the platform.',
  },
  busy: {
    status: 503,
    title: 'Too many sign-ins at once',
    explanation: 'The platform is waiting for the identity provider in many sign-ins.',
    advice: 'Sign in again in a minute.',
  },
  unavailable: {
    status: 503,
    title: 'The platform cannot sign you in now',
    explanation: 'The platform is read-only, or its database does not answer.',
    advice: 'Sign in again in a minute.',
  },
} as const satisfies Readonly<Record<string, FailureText>>

export type SignInFailure = keyof typeof SIGN_IN_FAILURES

/** A sign-in that has failed. */
export class SignInError extends Error {
  override readonly name = 'SignInError'
  readonly failure: SignInFailure
  /** What to log beside the failure; contains no secret. */
  readonly fields: Readonly<Record<string, string>>
  /** The name that the provider has confirmed. */
  readonly userName: string | undefined

  constructor(failure: SignInFailure, fields: Readonly<Record<string, string>> = {}, userName?: string) {
    super(SIGN_IN_FAILURES[failure].title)
    this.failure = failure
    this.fields = fields
    this.userName = userName
  }
}
