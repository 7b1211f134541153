import { isRedirectUri, withQuery } from './addresses.ts'
import { emptyAnswer, errorAnswer, redirectTo, type Answer, type Refusal } from './answers.ts'
import type { Authorization } from './grants.ts'
import { parseForm, type Parameters } from './parameters.ts'
import { formOf, type EndpointRequest, type Provider } from './provider.ts'

const KNOWN: ReadonlySet<string> = new Set([
  'response_type',
  'response_mode',
  'client_id',
  'redirect_uri',
  'scope',
  'state',
  'nonce',
  'code_challenge',
  'code_challenge_method',
])

interface AuthorizeCheck {
  readonly name: string
  readonly error: Refusal['error']
  /** Why the request is refused; undefined when it passes. */
  problem(parameters: Parameters): string | undefined
}

// RFC 6749, section 3.3
const SCOPE = /^[!#-[\]-~]+( [!#-[\]-~]+)*$/

/** A request that fails one of these gets status 400: redirecting it would be unsafe. */
const CHECKS_BEFORE_REDIRECT: readonly AuthorizeCheck[] = [
  { name: 'query', error: 'invalid_request', problem: ({ problem }) => problem },
  {
    name: 'redirect_uri',
    error: 'invalid_request',
    problem({ values, repeated }) {
      if (repeated.has('redirect_uri')) return 'it must not be repeated'
      return isRedirectUri(values.get('redirect_uri') ?? 'http://default')
        ? undefined
        : 'it must be an absolute http or https URL without a fragment'
    },
  },
  {
    name: 'client_id',
    error: 'invalid_request',
    problem: ({ repeated }) => (repeated.has('client_id') ? 'it must not be repeated' : undefined),
  },
]

/** A request that fails one of these is redirected with the error (RFC 6749, section 4.1.2.1). */
const CHECKS_AFTER_REDIRECT: readonly AuthorizeCheck[] = [
  {
    name: 'parameters',
    error: 'invalid_request',
    problem({ repeated: [name] }) {
      return name === undefined ? undefined : `${name} must not be repeated`
    },
  },
  {
    name: 'response_type',
    error: 'unsupported_response_type',
    problem: ({ values }) => mustBe(values, 'response_type', 'code'),
  },
  {
    name: 'response_mode',
    error: 'invalid_request',
    problem: ({ values }) => mustBe(values, 'response_mode', 'query'),
  },
  {
    name: 'scope',
    error: 'invalid_scope',
    problem: ({ values }) =>
      SCOPE.test(values.get('scope') ?? 'none') ? undefined : 'it must be names separated by single spaces',
  },
]

/** `/authorize`, with the parameters in the query or, by POST, in a form: redirects with a new code. The client and PKCE are checked at `/token`. */
export function authorize(provider: Provider, request: EndpointRequest): Answer {
  const form = request.method === 'POST' ? formOf(request) : request.query
  if (form === undefined)
    return errorAnswer(
      415,
      { check: 'content_type', error: 'invalid_request' },
      'the body must be application/x-www-form-urlencoded',
    )
  const parameters = parseForm(form, KNOWN)
  const { values, repeated } = parameters
  const unsafe = firstProblem(CHECKS_BEFORE_REDIRECT, parameters)
  if (unsafe) return errorAnswer(400, unsafe.refusal, unsafe.reason)
  const redirectUri = values.get('redirect_uri') ?? provider.config.redirectUri
  const state = repeated.has('state') ? undefined : values.get('state')
  const wrong = firstProblem(CHECKS_AFTER_REDIRECT, parameters)
  if (wrong) return errorRedirect(redirectUri, wrong, state)
  const code = provider.grants.issueCode(toAuthorization(values, redirectUri, provider.clock.now()))
  const result = [
    ['code', code],
    ['state', state],
  ] as const
  return redirectTo(withQuery(redirectUri, result))
}

function toAuthorization(
  values: ReadonlyMap<string, string>,
  redirectUri: string,
  now: number,
): Authorization {
  return {
    clientId: values.get('client_id'),
    redirectUri,
    hasRedirectUri: values.has('redirect_uri'),
    codeChallenge: values.get('code_challenge'),
    codeChallengeMethod: values.get('code_challenge_method'),
    scope: values.get('scope') ?? '',
    nonce: values.get('nonce'),
    authorizedAt: now,
  }
}

function mustBe(values: ReadonlyMap<string, string>, name: string, only: string): string | undefined {
  return (values.get(name) ?? only) === only ? undefined : `it must be ${only}`
}

interface Problem {
  readonly refusal: Refusal
  readonly reason: string
}

function firstProblem(checks: readonly AuthorizeCheck[], parameters: Parameters): Problem | undefined {
  for (const { name, error, problem } of checks) {
    const reason = problem(parameters)
    if (reason !== undefined) return { refusal: { check: name, error }, reason }
  }
  return undefined
}

function errorRedirect(redirectUri: string, { refusal, reason }: Problem, state: string | undefined): Answer {
  const parameters = [
    ['error', refusal.error],
    ['error_description', `${refusal.check}: ${reason}`],
    ['state', state],
  ] as const
  return redirectTo(withQuery(redirectUri, parameters), refusal)
}

const KNOWN_AT_END: ReadonlySet<string> = new Set([
  'id_token_hint',
  'client_id',
  'post_logout_redirect_uri',
  'state',
])

/** `/end_session` (OpenID Connect RP-Initiated Logout 1.0, section 2): this provider has no sessions, so it only leads back. */
export function endSession(_provider: Provider, request: EndpointRequest): Answer {
  const { values } = parseForm(formOf(request) ?? request.query, KNOWN_AT_END)
  const uri = values.get('post_logout_redirect_uri')
  if (uri === undefined) return emptyAnswer(204, {})
  if (!isRedirectUri(uri))
    return errorAnswer(
      400,
      { check: 'post_logout_redirect_uri', error: 'invalid_request' },
      'it must be an absolute http or https URL without a fragment',
    )
  return redirectTo(withQuery(uri, [['state', values.get('state')]]))
}
