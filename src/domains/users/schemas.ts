import { Type } from 'typebox'
import { USER_NAME_CHARACTERS, ROLES } from '../../kernel/identity.ts'
import { encoderOf } from '../../wire/codec.ts'
import { Fields, NullableTimestamp, OneOf, PathName, Text, Timestamp } from '../../wire/schemas.ts'
import type { IssuedToken } from './auth.ts'

const UserId = Type.String({ description: 'UUIDv7 (RFC 9562).' })
const Name = PathName(USER_NAME_CHARACTERS, 254, {
  description: '1 to 254 of `A-Z a-z 0-9 . _ @ + -`, not `.` or `..`; unique, ignoring case.',
  examples: ['ada'],
  patternFault: ['not_a_name'],
})
const Role = OneOf(ROLES, 'The permissions of the user.')
const GivenRoles = Type.Array(Role, { minItems: 1, maxItems: 16 })
const GivenPassword = Text({
  minLength: 12,
  maxLength: 256,
  description:
    '12 to 256 characters, at least 5 different ones; not a common password, and not the name of the user.',
})
// A password that is only compared need not follow the present rules: it may be older than they are.
const ExistingPassword = Type.String({ minLength: 1, maxLength: 1_024 })

const User = {
  id: UserId,
  name: Name,
  roles: Type.Array(Role),
  enabled: Type.Boolean(),
  created_at: Timestamp,
  updated_at: Timestamp,
  last_login_at: NullableTimestamp,
}

export const UserSchema = Fields(User, { $id: 'User' })

const ID = '[\\da-f]{8}(?:-[\\da-f]{4}){3}-[\\da-f]{12}'
const MAX_NAMES = 50

export const UserNamesQuery = Fields({
  ids: Type.String({
    pattern: `^${ID}(?:,${ID}){0,${MAX_NAMES - 1}}$`,
    patternFault: ['not_ids', { maximum: MAX_NAMES }],
    description: `Ids of users, separated by commas, at most ${MAX_NAMES}.`,
  }),
})

export const UserNamesSchema = Fields(
  { items: Type.Array(Fields({ id: UserId, name: Type.String() })) },
  { $id: 'UserNames' },
)

/** The caller. A local tool is not a user and has only the fields of its headers. */
export const MeSchema = Fields(
  {
    id: Type.String(),
    name: Type.String(),
    roles: User.roles,
    enabled: Type.Optional(User.enabled),
    created_at: Type.Optional(User.created_at),
    updated_at: Type.Optional(User.updated_at),
    last_login_at: Type.Optional(User.last_login_at),
  },
  { $id: 'Me', description: 'A user, or the identity of a local tool from its headers.' },
)

export const NewUserBody = Fields({ name: Name, password: GivenPassword, roles: GivenRoles })

export const UserChangeBody = Fields({
  roles: Type.Optional(GivenRoles),
  enabled: Type.Optional(Type.Boolean()),
})

export const PasswordBody = Fields({
  password: GivenPassword,
  old_password: Type.Optional(
    Type.Unsafe<string>({
      ...ExistingPassword,
      description: 'Required to change your own password, ignored for that of another user.',
    }),
  ),
})

export const LoginBody = Fields({
  username: Text({ minLength: 1, maxLength: 256 }),
  password: ExistingPassword,
})

export const LoginSchema = Fields(
  {
    access_token: Type.String({ description: 'JWT, for `Authorization: Bearer`.' }),
    token_type: OneOf(['Bearer']),
    expires_in: Type.Integer({ description: 'Seconds from now.' }),
    user: UserSchema,
  },
  { $id: 'Login' },
)

/** A user in responses; the schema has no field for a hash. */
export const encodeUser = encoderOf(UserSchema)

export const encodeUserNames = encoderOf(UserNamesSchema)

export const encodeMe = encoderOf(MeSchema)

export const encodeLogin = encoderOf(LoginSchema, {
  access_token: ({ token }: IssuedToken) => token.reveal(),
  token_type: () => 'Bearer',
  expires_in: ({ expiresInSeconds }: IssuedToken) => expiresInSeconds,
})
