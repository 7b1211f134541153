import { AppError, invalidField } from '../../kernel/errors.ts'
import { hasRole, type Identity } from '../../kernel/identity.ts'
import { bodyWriter } from '../../wire/codec.ts'
import type { ErrorCodes } from '../../wire/error-codes.ts'
import { encodePage, PageOf, parsePage, TimedQuery } from '../../wire/page.ts'
import { created, ok, type Answer, type Route, routeOf } from '../../wire/route.ts'
import { ErrorBody, IdParams } from '../../wire/schemas.ts'
import type { Auth } from './auth.ts'
import {
  encodeLogin,
  encodeMe,
  encodeUser,
  encodeUserNames,
  LoginBody,
  LoginSchema,
  MeSchema,
  NewUserBody,
  PasswordBody,
  UserChangeBody,
  UserNamesQuery,
  UserNamesSchema,
  UserSchema,
} from './schemas.ts'
import type { User } from './model.ts'
import type { Users } from './service.ts'

const authRoute = routeOf('Auth')
const userRoute = routeOf('Users')

const textOf = bodyWriter(encodeUser)
const loginText = bodyWriter(encodeLogin)
const meText = bodyWriter(encodeMe)
const namesText = bodyWriter(encodeUserNames)

/** The user as a response shows it. */
const stateOf = (user: User | undefined) => user && textOf(user)

const ADMINS = ['admin'] as const
const NO_CONTENT: Answer = { status: 204 }

export const USER_ERRORS = {
  invalid_credentials: { status: 401, meaning: 'The name or the password is wrong.' },
  not_a_session: { status: 409, meaning: 'The request does not come with the token of a login.' },
  last_admin: { status: 409, meaning: 'The change would leave no enabled admin.' },
  user_exists: { status: 409, meaning: 'Another user has this name.' },
  user_not_found: { status: 404, meaning: 'There is no such user.' },
} as const satisfies ErrorCodes

const { invalid_credentials, last_admin, not_a_session, user_exists, user_not_found } = USER_ERRORS

/** docs/specification.md, HTTP API */
export function userRoutes(users: Users, auth: Auth): Route[] {
  return [...authRoutes(users, auth), ...administrationRoutes(users), passwordRoute(users, auth)]
}

function authRoutes(users: Users, auth: Auth): Route[] {
  return [
    authRoute({
      method: 'POST',
      path: '/auth/login',
      operation: 'login',
      summary: 'Get a token for a name and a password',
      description:
        'The response is the same for an unknown name, a wrong password and a disabled user. It is 429 after 10 ' +
        'failures in 5 minutes for a name from one address, 50 for a name, or 100 from an address.',
      access: 'public',
      body: LoginBody,
      answers: { 200: { description: 'The token and its user.', schema: LoginSchema } },
      errors: { invalid_credentials },
      // No change route: a login works while the platform is read-only.
      read: async (request) => ok(loginText(await auth.login(request.body, request))),
    }),
    authRoute({
      method: 'POST',
      path: '/auth/logout',
      operation: 'logout',
      summary: 'End the token that the request is sent with',
      description: 'It stops working within 10 s in every process; its VPN sessions and live streams end.',
      access: 'authenticated',
      answers: { 204: { description: 'The token has ended.' } },
      errors: { not_a_session },
      audit: { kind: 'user', id: ({ identity }) => identity.id },
      change: async (tx, { identity }) => {
        await auth.logout(tx, identity)
        return NO_CONTENT
      },
    }),
    authRoute({
      method: 'GET',
      path: '/auth/me',
      operation: 'getMe',
      summary: 'Read the authenticated caller',
      access: 'authenticated',
      answers: { 200: { description: 'The caller.', schema: MeSchema } },
      // A token may have fewer roles than its user.
      read: async ({ identity }) =>
        ok(meText({ ...identity, ...(await users.find(identity.id)), roles: identity.roles })),
    }),
  ]
}

function administrationRoutes(users: Users): Route[] {
  return [
    userRoute({
      method: 'GET',
      path: '/users',
      operation: 'listUsers',
      summary: 'List users, newest first',
      access: ADMINS,
      query: TimedQuery,
      answers: { 200: { description: 'A page of users.', schema: PageOf(UserSchema) } },
      read: async ({ query }) => ok(encodePage(await users.list(parsePage(query)), encodeUser)),
    }),
    userRoute({
      method: 'POST',
      path: '/users',
      operation: 'createUser',
      summary: 'Create a user',
      access: ADMINS,
      body: NewUserBody,
      answers: { 201: { description: 'The new user, enabled.', schema: UserSchema } },
      errors: { user_exists },
      prepare: ({ body }) => users.prepareAccount(body),
      audit: { kind: 'user' },
      change: async (tx, { identity }, account) => {
        const user = await users.create(tx, account, identity.id)
        return created('/users', user.id, textOf(user))
      },
    }),
    userRoute({
      method: 'GET',
      path: '/users/names',
      operation: 'listUserNames',
      summary: 'Read the names of users by their ids',
      description:
        'For every caller, because ids of users stand in most answers. An id of no user, such as that of a user who ' +
        'was deleted, is left out.',
      access: 'authenticated',
      query: UserNamesQuery,
      answers: { 200: { description: 'The names, in no order.', schema: UserNamesSchema } },
      read: async ({ query }) => ok(namesText({ items: await users.names(query.ids.split(',')) })),
    }),
    userRoute({
      method: 'GET',
      path: '/users/:id',
      operation: 'getUser',
      summary: 'Read one user',
      access: ADMINS,
      params: IdParams,
      answers: { 200: { description: 'The user.', schema: UserSchema } },
      errors: { user_not_found },
      read: async ({ params }) => ok(textOf(await users.get(params.id))),
    }),
    userRoute({
      method: 'PATCH',
      path: '/users/:id',
      operation: 'updateUser',
      summary: 'Change the roles of a user, or disable or enable one',
      description: 'A change of roles and disabling revoke the user’s tokens.',
      access: ADMINS,
      params: IdParams,
      body: UserChangeBody,
      answers: { 200: { description: 'The user as it is now.', schema: UserSchema } },
      errors: { user_not_found, last_admin },
      audit: { kind: 'user', before: async (tx, { params }) => stateOf(await users.find(params.id, tx)) },
      change: async (tx, { params, body, identity }) =>
        ok(textOf(await users.change(tx, params.id, body, identity.id))),
    }),
    userRoute({
      method: 'DELETE',
      path: '/users/:id',
      operation: 'deleteUser',
      summary: 'Delete a user',
      access: ADMINS,
      params: IdParams,
      answers: { 204: { description: 'The user is deleted, and the user’s tokens are revoked.' } },
      errors: { user_not_found, last_admin },
      audit: { kind: 'user', before: async (tx, { params }) => stateOf(await users.find(params.id, tx)) },
      change: async (tx, { params, identity }) => {
        await users.remove(tx, params.id, identity.id)
        return NO_CONTENT
      },
    }),
  ]
}

function passwordRoute(users: Users, auth: Auth): Route {
  return userRoute({
    method: 'PUT',
    path: '/users/:id/password',
    operation: 'setPassword',
    summary: 'Set a password',
    description:
      'A change of your own password requires the old one and is throttled like a login; an admin sets the password ' +
      'of another user without it. Revokes the user’s tokens, but no API tokens: the header `X-Api-Tokens` of the ' +
      'response says how many there are.',
    access: 'authenticated',
    params: IdParams,
    body: PasswordBody,
    answers: {
      204: { description: 'The password is set.' },
      403: { description: '`forbidden`: Only an admin sets another user’s password.', schema: ErrorBody },
    },
    errors: { user_not_found, invalid_credentials },
    prepare: (request) => {
      const { params, body, identity } = request
      const { password, old_password: oldPassword } = body
      if (identity.id !== params.id) {
        requireAdmin(identity)
        return users.preparePassword(params.id, password)
      }
      if (oldPassword === undefined) throw invalidField('old_password', 'old_password_required')
      return auth.prepareOwnPassword(params.id, { oldPassword, password }, request)
    },
    audit: { kind: 'user' },
    change: async (tx, { params, identity }, password) => {
      const { apiTokens } = await users.setPassword(tx, params.id, password, identity.id)
      return { ...NO_CONTENT, headers: { 'x-api-tokens': String(apiTokens) } }
    },
  })
}

function requireAdmin(identity: Identity): void {
  if (hasRole(identity, ADMINS)) return
  throw new AppError('forbidden', 'forbidden', 'Only an admin can set the password of another user.')
}
