import { isRedirectAddress, withQuery } from './addresses.ts'
import { redirectTo, refused, type Answer, type Refusal } from './answers.ts'
import { parseForm, type Parameters } from './parameters.ts'
import type { EndpointRequest, Provider } from './provider.ts'

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
  /** Why the request is refused, undefined when all is well. */
  fault(parameters: Parameters): string | undefined
}

// RFC 6749, section 3.3
const SCOPE = /^[!#-[\]-~]+( [!#-[\]-~]+)*$/

/** What makes it unsafe to redirect at all: the answer stays with whoever asked. */
const CHECKS_BEFORE_REDIRECT: readonly AuthorizeCheck[] = [
  { name: 'query', error: 'invalid_request', fault: ({ fault }) => fault },
  {
    name: 'redirect_uri',
    error: 'invalid_request',
    fault({ values, repeated }) {
      if (repeated.has('redirect_uri')) return 'it stands more than once'
      return isRedirectAddress(values.get('redirect_uri') ?? 'http://default')
        ? undefined
        : 'it must be an absolute http or https address without a fragment'
    },
  },
  {
    name: 'client_id',
    error: 'invalid_request',
    fault: ({ repeated }) => (repeated.has('client_id') ? 'it stands more than once' : undefined),
  },
]

/** What the client is told by way of the redirect (RFC 6749, section 4.1.2.1). */
const CHECKS_AFTER_REDIRECT: readonly AuthorizeCheck[] = [
  {
    name: 'parameters',
    error: 'invalid_request',
    fault({ repeated: [name] }) {
      return name === undefined ? undefined : `${name} stands more than once`
    },
  },
  {
    name: 'response_type',
    error: 'unsupported_response_type',
    fault: ({ values }) => onlyWhenGiven(values, 'response_type', 'code'),
  },
  {
    name: 'response_mode',
    error: 'invalid_request',
    fault: ({ values }) => onlyWhenGiven(values, 'response_mode', 'query'),
  },
  {
    name: 'scope',
    error: 'invalid_scope',
    fault: ({ values }) =>
      SCOPE.test(values.get('scope') ?? 'none') ? undefined : 'it must be words with one space between',
  },
]

/** `GET /authorize`: a code for whoever asks, by redirect. PKCE and the client are judged at `/token`. */
export function authorize(provider: Provider, request: EndpointRequest): Answer {
  const parameters = parseForm(request.query, KNOWN)
  const { values, repeated } = parameters
  const unsafe = firstFault(CHECKS_BEFORE_REDIRECT, parameters)
  if (unsafe) return refused(400, unsafe.refusal, unsafe.because)
  const redirectUri = values.get('redirect_uri') ?? provider.config.redirectUri
  const state = repeated.has('state') ? undefined : values.get('state')
  const wrong = firstFault(CHECKS_AFTER_REDIRECT, parameters)
  if (wrong) return errorRedirect(redirectUri, wrong, state)
  const code = provider.grants.issueCode({
    clientId: values.get('client_id'),
    redirectUri,
    redirectUriGiven: values.has('redirect_uri'),
    codeChallenge: values.get('code_challenge'),
    codeChallengeMethod: values.get('code_challenge_method'),
    scope: values.get('scope') ?? '',
    nonce: values.get('nonce'),
    at: provider.clock.now(),
  })
  return redirectTo(
    withQuery(redirectUri, [
      ['code', code],
      ['state', state],
    ]),
  )
}

function onlyWhenGiven(values: ReadonlyMap<string, string>, name: string, only: string): string | undefined {
  return (values.get(name) ?? only) === only ? undefined : `it must be ${only}`
}

interface Fault {
  readonly refusal: Refusal
  readonly because: string
}

function firstFault(checks: readonly AuthorizeCheck[], parameters: Parameters): Fault | undefined {
  for (const { name, error, fault } of checks) {
    const because = fault(parameters)
    if (because !== undefined) return { refusal: { check: name, error }, because }
  }
  return undefined
}

function errorRedirect(redirectUri: string, { refusal, because }: Fault, state: string | undefined): Answer {
  const parameters = [
    ['error', refusal.error],
    ['error_description', `${refusal.check}: ${because}`],
    ['state', state],
  ] as const
  return redirectTo(withQuery(redirectUri, parameters), refusal)
}
