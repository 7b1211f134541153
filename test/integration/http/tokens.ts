import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { ADMIN, type Api } from './client.ts'
import { PASSWORD } from './samples.ts'

/** A user with a token of its own. */
export interface SignedIn {
  readonly id: string
  readonly name: string
  readonly token: string
}

/** Creates a user with these roles, as an admin, and signs it in. */
export async function signIn(
  api: Api,
  roles: readonly string[],
  asAdmin: Readonly<Record<string, string>> = ADMIN,
): Promise<SignedIn> {
  const name = `user-${randomUUID()}`
  const body = { name, password: PASSWORD, roles }
  const created = await api.send({
    method: 'POST',
    path: '/users',
    body,
    headers: { ...JSON_ONLY, ...asAdmin },
  })
  assert.equal(created.status, 201, created.text)
  return logIn(api, name, PASSWORD)
}

/** The admin of the first start, with the password that the start has printed. */
export function logInFirstAdmin(api: Api): Promise<SignedIn> {
  const [, name = '', password = ''] =
    /user "(\S+)" with the password (\S+)/.exec(api.platform.stderr()) ?? []
  return logIn(api, name, password)
}

async function logIn(api: Api, username: string, password: string): Promise<SignedIn> {
  const answer = await api.send({
    method: 'POST',
    path: '/auth/login',
    body: { username, password },
    headers: JSON_ONLY,
  })
  assert.equal(answer.status, 200, answer.text)
  const { access_token: token, user } = answer.json() as {
    access_token: string
    user: { id: string; name: string }
  }
  return { id: user.id, name: user.name, token }
}

const JSON_ONLY = { 'content-type': 'application/json' }
