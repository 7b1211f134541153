import { AppError, invalidField } from '../../kernel/errors.ts'
import { hasRole, type Identity } from '../../kernel/identity.ts'
import { parsePage, toPage } from '../../wire/page.ts'
import { created, ok, route, type Answer, type Route } from '../../wire/route.ts'
import { ErrorBody, IdParams } from '../../wire/schemas.ts'
import type { Auth } from './auth.ts'
import {
  LoginBody,
  LoginSchema,
  MeSchema,
  NewUserBody,
  PasswordBody,
  toLoginWire,
  toMeWire,
  toUserWire,
  UserChangeBody,
  UserPage,
  UserQuery,
  UserSchema,
} from './schemas.ts'
import type { Users } from './service.ts'

const ADMINS = ['admin'] as const
const NO_CONTENT: Answer = { status: 204 }

/** contract, section 3: Operations */
export function userRoutes(users: Users, auth: Auth): Route[] {
  return [...authRoutes(users, auth), ...administrationRoutes(users), passwordRoute(users, auth)]
}

function authRoutes(users: Users, auth: Auth): Route[] {
  return [
    route({
      method: 'POST',
      path: '/auth/login',
      operation: 'login',
      tag: 'Auth',
      summary: 'Get a token for a name and a password',
      description:
        'An unknown name, a wrong password and a disabled user are answered alike. After 10 failures in 5 minutes for ' +
        'a name from one address, and a few more for a name or an address alone, the answer is 429.',
      access: 'public',
      // It works while the platform is read-only; only the time of the login is not noted then.
      mutates: false,
      body: LoginBody,
      answers: { 200: { description: 'The token and its user.', schema: LoginSchema } },
      errors: ['invalid_credentials'],
      handle: async ({ body, remoteAddress }) => ok(toLoginWire(await auth.login(body, remoteAddress))),
    }),
    route({
      method: 'GET',
      path: '/auth/me',
      operation: 'getMe',
      tag: 'Auth',
      summary: 'Who is calling',
      access: 'authenticated',
      answers: { 200: { description: 'The caller.', schema: MeSchema } },
      handle: async ({ identity }) => ok(toMeWire(identity, await users.find(identity.id))),
    }),
  ]
}

function administrationRoutes(users: Users): Route[] {
  return [
    route({
      method: 'GET',
      path: '/users',
      operation: 'listUsers',
      tag: 'Users',
      summary: 'List users, newest first',
      access: ADMINS,
      query: UserQuery,
      answers: { 200: { description: 'A page of users.', schema: UserPage } },
      handle: async ({ query }) => ok(toPage(await users.list(parsePage(query)), toUserWire)),
    }),
    route({
      method: 'POST',
      path: '/users',
      operation: 'createUser',
      tag: 'Users',
      summary: 'Make a user',
      access: ADMINS,
      body: NewUserBody,
      answers: { 201: { description: 'The new user, enabled.', schema: UserSchema } },
      errors: ['user_exists', 'idempotency_key_reused'],
      handle: async ({ body }) => created(toUserWire(await users.create(body))),
    }),
    route({
      method: 'GET',
      path: '/users/:id',
      operation: 'getUser',
      tag: 'Users',
      summary: 'Read one user',
      access: ADMINS,
      params: IdParams,
      answers: { 200: { description: 'The user.', schema: UserSchema } },
      errors: ['user_not_found'],
      handle: async ({ params }) => ok(toUserWire(await users.get(params.id))),
    }),
    route({
      method: 'PATCH',
      path: '/users/:id',
      operation: 'changeUser',
      tag: 'Users',
      summary: 'Change the roles of a user, or disable or enable one',
      description: 'Other roles, and disabling, end the tokens that the user has.',
      access: ADMINS,
      params: IdParams,
      body: UserChangeBody,
      answers: { 200: { description: 'The user as it is now.', schema: UserSchema } },
      errors: ['user_not_found', 'last_admin'],
      handle: async ({ params, body }) => ok(toUserWire(await users.change(params.id, body))),
    }),
    route({
      method: 'DELETE',
      path: '/users/:id',
      operation: 'deleteUser',
      tag: 'Users',
      summary: 'Delete a user',
      access: ADMINS,
      params: IdParams,
      answers: { 204: { description: 'The user is gone, and so are the user’s tokens.' } },
      errors: ['user_not_found', 'last_admin'],
      handle: async ({ params }) => {
        await users.remove(params.id)
        return NO_CONTENT
      },
    }),
  ]
}

function passwordRoute(users: Users, auth: Auth): Route {
  return route({
    method: 'PUT',
    path: '/users/:id/password',
    operation: 'setPassword',
    tag: 'Users',
    summary: 'Set a password',
    description:
      'Everybody sets their own with the old one, which is throttled like a login; admins set those of others ' +
      'without it. The tokens that the user has end.',
    access: 'authenticated',
    params: IdParams,
    body: PasswordBody,
    answers: {
      204: { description: 'The password is set.' },
      403: { description: '`forbidden`: Another user’s password is for admins.', schema: ErrorBody },
    },
    errors: ['user_not_found', 'invalid_credentials'],
    handle: async ({ params, body, identity, remoteAddress }) => {
      const { password, old_password: oldPassword } = body
      if (identity.id === params.id) {
        await auth.changeOwnPassword(
          params.id,
          { oldPassword: requireOld(oldPassword), password },
          remoteAddress,
        )
      } else {
        requireAdmin(identity)
        await users.setPassword(params.id, password)
      }
      return NO_CONTENT
    },
  })
}

function requireOld(password: string | undefined): string {
  if (password === undefined) throw invalidField('old_password', 'is required to change your own password')
  return password
}

function requireAdmin(identity: Identity): void {
  if (hasRole(identity, ADMINS)) return
  throw new AppError('forbidden', 'forbidden', 'Only an admin sets the password of another user.')
}
