import { AppError } from '../../../kernel/errors.ts'
import { hasRole, type Identity } from '../../../kernel/identity.ts'
import { JsonText } from '../../../kernel/json-text.ts'
import type { ErrorCodes } from '../../../wire/error-codes.ts'
import { encodePage, parsePage } from '../../../wire/page.ts'
import { created, ok, route, type Route } from '../../../wire/route.ts'
import { ErrorBody, IdParams } from '../../../wire/schemas.ts'
import {
  encodeKnownToken,
  encodeNewToken,
  encodeToken,
  fromTokenBody,
  NewTokenBody,
  NewTokenSchema,
  TokenPage,
  TokenParams,
  TokenQuery,
} from './schemas.ts'
import type { ApiTokens } from './service.ts'

export const TOKEN_ERRORS = {
  token_not_found: { status: 404, meaning: 'The user has no such API token.' },
  too_many_tokens: { status: 409, meaning: 'The user has 100 API tokens already.' },
  user_disabled: { status: 409, meaning: 'The user is disabled.' },
} as const satisfies ErrorCodes

const { token_not_found, too_many_tokens, user_disabled } = TOKEN_ERRORS
const user_not_found = { status: 404, meaning: 'There is no such user.' } as const

const FORBIDDEN = {
  description: '`forbidden`: Only an admin has to do with the tokens of another user.',
  schema: ErrorBody,
}

/** docs/specification.md, API tokens */
export function tokenRoutes(tokens: ApiTokens): Route[] {
  return [
    route({
      method: 'POST',
      path: '/users/:id/tokens',
      operation: 'createApiToken',
      tag: 'Users',
      summary: 'Create an API token for a program',
      description:
        'Everybody for themselves, an admin for any user. The response has the token once; only its hash is stored. ' +
        'A token makes none that may do more, or longer, than itself.',
      access: 'authenticated',
      params: IdParams,
      body: NewTokenBody,
      answers: { 201: { description: 'The new token.', schema: NewTokenSchema }, 403: FORBIDDEN },
      errors: { user_not_found, user_disabled, too_many_tokens },
      prepare: ({ params, identity }) => requireOwner(params.id, identity),
      audit: { kind: 'user' },
      change: async (tx, { params, body, identity }) => {
        const token = await tokens.create(tx, params.id, fromTokenBody(body), identity)
        return {
          ...created(`/users/${params.id}/tokens`, token.id, new JsonText(encodeNewToken(token))),
          storedBody: new JsonText(encodeKnownToken(token)),
        }
      },
    }),
    route({
      method: 'GET',
      path: '/users/:id/tokens',
      operation: 'listApiTokens',
      tag: 'Users',
      summary: 'List the API tokens of a user, newest first',
      access: 'authenticated',
      params: IdParams,
      query: TokenQuery,
      answers: { 200: { description: 'A page of tokens.', schema: TokenPage }, 403: FORBIDDEN },
      errors: { user_not_found },
      read: async ({ params, query, identity }) => {
        requireOwner(params.id, identity)
        return ok(encodePage(await tokens.list(params.id, parsePage(query)), encodeToken))
      },
    }),
    route({
      method: 'DELETE',
      path: '/users/:id/tokens/:token_id',
      operation: 'revokeApiToken',
      tag: 'Users',
      summary: 'Revoke an API token',
      description: 'It stops working within 10 s in every process; its VPN sessions end.',
      access: 'authenticated',
      params: TokenParams,
      answers: { 204: { description: 'The token is revoked.' }, 403: FORBIDDEN },
      errors: { token_not_found },
      prepare: ({ params, identity }) => requireOwner(params.id, identity),
      audit: { kind: 'user', before: (tx, { params }) => tokens.stateOf(tx, params.token_id) },
      change: async (tx, { params, identity }) => {
        await tokens.revoke(tx, params.id, params.token_id, identity.id)
        return { status: 204 }
      },
    }),
  ]
}

function requireOwner(userId: string, identity: Identity): void {
  if (identity.id === userId || hasRole(identity, ['admin'])) return
  throw new AppError('forbidden', 'forbidden', 'Only an admin has to do with the tokens of another user.')
}
