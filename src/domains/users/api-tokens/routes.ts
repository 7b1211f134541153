import { Type, type Static } from 'typebox'
import { AppError } from '../../../kernel/errors.ts'
import { hasRole, ROLES, type Identity } from '../../../kernel/identity.ts'
import { SECOND } from '../../../kernel/time.ts'
import { bodyWriter, encoderOf } from '../../../wire/codec.ts'
import type { ErrorCodes } from '../../../wire/error-codes.ts'
import { encodePage, PageOf, parsePage, TimedQuery } from '../../../wire/page.ts'
import { created, ok, type Route, routeOf } from '../../../wire/route.ts'
import {
  ErrorBody,
  IdParams,
  Fields,
  Id,
  Nullable,
  NullableTimestamp,
  OneOf,
  Text,
  Timestamp,
} from '../../../wire/schemas.ts'
import { DEFAULT_LIFETIME_MS, MAX_LIFETIME_MS, type NewApiToken } from './model.ts'
import type { ApiTokens, CreatedToken } from './service.ts'

const route = routeOf('Users')

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
          ...created(`/users/${params.id}/tokens`, token.id, createdTokenText(token)),
          storedBody: knownTokenText(token),
        }
      },
    }),
    route({
      method: 'GET',
      path: '/users/:id/tokens',
      operation: 'listApiTokens',
      summary: 'List the API tokens of a user, newest first',
      access: 'authenticated',
      params: IdParams,
      query: TimedQuery,
      answers: { 200: { description: 'A page of tokens.', schema: PageOf(TokenSchema) }, 403: FORBIDDEN },
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

const Role = OneOf(ROLES, 'The permissions of the token.')

const Token = {
  id: Type.String({ description: 'UUIDv7 (RFC 9562).' }),
  name: Text({
    minLength: 1,
    maxLength: 64,
    description: 'What its owner calls it.',
    examples: ['cash desk'],
  }),
  roles: Type.Array(Role, { description: 'Only the roles of the token that its user still has.' }),
  created_at: Timestamp,
  expires_at: Timestamp,
  last_used_at: NullableTimestamp,
  last_used_from: Nullable<string>({
    type: 'string',
    description: 'The address of the last call. Written at most once a minute.',
  }),
}

const TokenSchema = Fields(Token, { $id: 'ApiToken' })

const NewTokenSchema = Fields(
  {
    ...Token,
    token: Nullable<string>({
      type: 'string',
      description: 'For `Authorization: Bearer`. Shown once: null when the request is repeated.',
    }),
  },
  { $id: 'NewApiToken' },
)

const TokenParams = Fields({ id: Id, token_id: Id })

const NewTokenBody = Fields({
  name: Token.name,
  expires_in: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: MAX_LIFETIME_MS / SECOND,
      description: `Seconds, at most 366 days; ${DEFAULT_LIFETIME_MS / SECOND} (90 days) when left out.`,
    }),
  ),
  roles: Type.Optional(
    Type.Array(OneOf(ROLES), {
      minItems: 1,
      maxItems: 16,
      description: 'Roles of the user; all that the user has at the time of each call when left out.',
    }),
  ),
})

function fromTokenBody({ name, expires_in, roles }: Static<typeof NewTokenBody>): NewApiToken {
  return { name, roles, expiresInMs: expires_in === undefined ? undefined : expires_in * SECOND }
}

const encodeToken = encoderOf(TokenSchema)

const createdTokenText = bodyWriter(
  encoderOf(NewTokenSchema, { token: ({ token }: CreatedToken) => token.reveal() }),
)

/** A new token as the repetition of its request gets it. */
const knownTokenText = bodyWriter(encoderOf(NewTokenSchema, { token: () => null }))
