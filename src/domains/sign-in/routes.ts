import { Type, type TSchema, type Static } from 'typebox'
import { AppError } from '../../kernel/errors.ts'
import { JsonText } from '../../kernel/text.ts'
import type { ErrorCodes } from '../../wire/error-codes.ts'
import {
  ok,
  type Answer,
  type AnswerSchema,
  type Route,
  type RouteRequest,
  routeOf,
} from '../../wire/route.ts'
import { Fields } from '../../wire/schemas.ts'
import type { IssuedToken } from '../users/index.ts'
import { failurePage } from './failure-page.ts'
import { SignInError } from './failures.ts'
import type { BrowserRequest, SignIn } from './service.ts'

const route = routeOf('Auth')

export const SIGN_IN_ERRORS = {
  sign_in_not_configured: { status: 404, meaning: 'No OpenID provider is configured.' },
} as const satisfies ErrorCodes

const { sign_in_not_configured } = SIGN_IN_ERRORS

/** How a login answers; the domain of the users declares it. */
export interface LoginAnswer {
  readonly schema: TSchema
  readonly encode: (issued: IssuedToken) => string
}

/** docs/specification.md, Sign-in */
export function signInRoutes(signIn: SignIn, login: LoginAnswer): Route[] {
  return [beginRoute(signIn), callbackRoute(signIn), redeemRoute(signIn, login), endRoute(signIn)]
}

const page = (description: string): AnswerSchema => ({
  description,
  schema: Type.String(),
  contentType: 'text/html',
})

const PROVIDER_PAGES = {
  502: page('A page: the provider does not answer, or its answer cannot be used.'),
  503: page('A page: the platform is read-only, its database does not answer, or too many sign-ins wait.'),
}

function beginRoute(signIn: SignIn): Route {
  return route({
    method: 'GET',
    path: '/auth/oauth/login',
    operation: 'beginSignIn',
    summary: 'Begin a sign-in with the OpenID provider',
    description: 'For a browser. Sets the cookie that binds the sign-in to the browser for 10 minutes.',
    access: 'public',
    query: LoginQuery,
    answers: { 302: { description: 'To the provider.' }, ...PROVIDER_PAGES },
    errors: { sign_in_not_configured },
    read: (request) =>
      orFailurePage(signIn, request, request.query.return_to, async () => {
        const begun = await signIn.begin(request.query.return_to ?? '/', browserRequest(request))
        return redirect(begun.location, { 'set-cookie': begun.cookie })
      }),
  })
}

function callbackRoute(signIn: SignIn): Route {
  return route({
    method: 'GET',
    path: '/auth/oauth/callback',
    operation: 'finishSignIn',
    summary: 'Finish a sign-in with the answer of the OpenID provider',
    description:
      'The provider sends the browser here. The browser goes on to `return_to` with a ticket in the fragment of the ' +
      'address, `#signed-in=…`, which is valid once and for 60 seconds.',
    access: 'public',
    query: CallbackQuery,
    answers: {
      302: { description: 'To `return_to#signed-in=…`.' },
      400: page(
        'A page: the provider refused, or the answer is not one to a sign-in of this browser, or is used.',
      ),
      403: page('A page: the user is unknown or disabled, or has no role.'),
      ...PROVIDER_PAGES,
    },
    errors: { sign_in_not_configured },
    // No change route: it waits for the provider between two transactions.
    read: async (request) => {
      const parameters = parametersOf(request.query)
      return orFailurePage(signIn, request, undefined, async () => {
        const flow = signIn.open(parameters, browserRequest(request))
        return orFailurePage(signIn, request, flow.returnTo, async () =>
          redirect(await signIn.complete(parameters, flow)),
        )
      })
    },
  })
}

function redeemRoute(signIn: SignIn, { schema, encode }: LoginAnswer): Route {
  return route({
    method: 'POST',
    path: '/auth/oauth/redeem',
    operation: 'redeemTicket',
    summary: 'Get a token for the ticket of a sign-in',
    description: 'A ticket is valid once and for 60 seconds. The response is that of a login.',
    access: 'public',
    body: RedeemBody,
    answers: { 200: { description: 'The token and its user.', schema } },
    errors: { sign_in_not_configured, invalid_credentials: REFUSED_TICKET },
    // No change route: like a login, it counts what was refused.
    read: async (request) => ok(new JsonText(encode(await signIn.redeem(request.body.ticket, request)))),
  })
}

function endRoute(signIn: SignIn): Route {
  return route({
    method: 'GET',
    path: '/auth/oauth/logout',
    operation: 'endProviderSession',
    summary: 'End the session with the OpenID provider',
    description:
      'For a browser whose token has ended (`POST /auth/logout`). Without an `end_session_endpoint` of the provider it leads to the ' +
      'console.',
    access: 'public',
    answers: { 302: { description: 'To the provider, or to the console.' } },
    errors: { sign_in_not_configured },
    read: async () => redirect(await signIn.endSession()),
  })
}

const REFUSED_TICKET = { status: 401, meaning: 'The ticket is unknown, was used or has expired.' }

type AnyRequest = RouteRequest<unknown, unknown, unknown>

/** The page of a sign-in that fails; other errors are answered as for every operation. */
async function orFailurePage(
  signIn: SignIn,
  request: AnyRequest,
  returnTo: string | undefined,
  work: () => Promise<Answer>,
): Promise<Answer> {
  try {
    return await work()
  } catch (error) {
    const failure = toSignInError(error)
    await signIn.record(failure, browserRequest(request))
    const { requestId } = request
    const { failure: kind, fields, userName } = failure
    const reason = kind === 'unusable_name' ? fields['reason'] : undefined
    return failurePage({ failure: kind, reason, requestId, userName, returnTo })
  }
}

/** A store that is read-only or does not answer is a failure like the others; throws any other error. */
function toSignInError(error: unknown): SignInError {
  if (error instanceof SignInError) return error
  if (error instanceof AppError && error.kind === 'unavailable') {
    return new SignInError('unavailable', { reason: error.code })
  }
  throw error
}

function browserRequest({ headers, remoteAddress, requestId }: AnyRequest): BrowserRequest {
  return { cookies: headers.cookie, remoteAddress, requestId }
}

function redirect(location: string, headers: Readonly<Record<string, string>> = {}): Answer {
  return { status: 302, headers: { ...headers, location } }
}

const LoginQuery = Fields({
  return_to: Type.Optional(
    Type.String({
      maxLength: 1_024,
      description:
        'Where the browser comes back to: a path on this host, with or without a query. Default: `/`.',
      examples: ['/console/orders?status=pending'],
    }),
  ),
})

// Also when it is repeated: what the provider sends is judged by the page, not refused with JSON.
const Parameter = Type.Optional(
  Type.Unsafe<string | string[]>({ type: ['string', 'array'], items: { type: 'string' } }),
)

/** The answer of the provider (RFC 6749, section 4.1.2; RFC 9207). It may have more parameters. */
const CallbackQuery = Type.Object({
  code: Parameter,
  state: Parameter,
  error: Parameter,
  error_description: Parameter,
  iss: Parameter,
})

const RedeemBody = Fields({
  ticket: Type.String({ minLength: 1, maxLength: 256, description: 'From `#signed-in=…` of the address.' }),
})

/** The parameters as the provider has sent them; a repeated one stays repeated. */
function parametersOf(query: Static<typeof CallbackQuery>): URLSearchParams {
  const pairs = Object.entries(query).flatMap(([name, values]) =>
    [values].flat().map((value): [string, string] => [name, String(value)]),
  )
  return new URLSearchParams(pairs)
}
