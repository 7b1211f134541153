import { Type, type Static } from 'typebox'
import { ROLES } from '../../../kernel/identity.ts'
import { SECOND } from '../../../kernel/time.ts'
import { encoderOf } from '../../../wire/codec.ts'
import { PageOf, TimedPageQuery } from '../../../wire/page.ts'
import { Fields, Id, Nullable, NullableTimestamp, OneOf, Text, Timestamp } from '../../../wire/schemas.ts'
import { DEFAULT_LIFETIME_MS, MAX_LIFETIME_MS, type NewApiToken } from './model.ts'
import type { CreatedToken } from './service.ts'

const Role = OneOf(ROLES, 'The permissions of the token.')

const Token = {
  id: Type.String({ description: 'UUIDv7 (RFC 9562).' }),
  name: Text({
    minLength: 1,
    maxLength: 64,
    description: 'What its owner calls it.',
    examples: ['cash desk'],
  }),
  roles: Type.Array(Role, { description: 'Those of its roles that its user still has.' }),
  created_at: Timestamp,
  expires_at: Timestamp,
  last_used_at: NullableTimestamp,
  last_used_from: Nullable<string>({
    type: 'string',
    description: 'The address of the last call. Written at most once a minute.',
  }),
}

const TokenSchema = Fields(Token, { $id: 'ApiToken' })

export const NewTokenSchema = Fields(
  {
    ...Token,
    token: Nullable<string>({
      type: 'string',
      description: 'For `Authorization: Bearer`. Shown once: null when the request is repeated.',
    }),
  },
  { $id: 'NewApiToken' },
)

export const TokenPage = PageOf(TokenSchema)

export const TokenQuery = Fields(TimedPageQuery)

export const TokenParams = Fields({ id: Id, token_id: Id })

export const NewTokenBody = Fields({
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

export function fromTokenBody({ name, expires_in, roles }: Static<typeof NewTokenBody>): NewApiToken {
  return { name, roles, expiresInMs: expires_in === undefined ? undefined : expires_in * SECOND }
}

export const encodeToken = encoderOf(TokenSchema)

export const encodeNewToken = encoderOf(NewTokenSchema, {
  token: ({ token }: CreatedToken) => token.reveal(),
})

/** A new token as the repetition of its request gets it. */
export const encodeKnownToken = encoderOf(NewTokenSchema, { token: () => null })
