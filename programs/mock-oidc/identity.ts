export type UserIdentity = Readonly<Record<string, unknown>>

/** The body of `/userinfo` without `MOCK_USER_JSON`. */
export const BUILT_IN_IDENTITY: UserIdentity = {
  sub: 'mock_user_docvalue_0001',
  name: 'Mock User',
  preferred_username: 'mock.user',
  email: 'mock.user@example.com',
  email_verified: true,
  open_id: 'ou_mock_docvalue_0001',
  union_id: 'on_mock_docvalue_0001',
}

/** The `sub` of an id_token. Without one of its own an identity gets the built-in one: an id_token needs a `sub`. */
export function subjectOf({ sub }: UserIdentity): string {
  return typeof sub === 'string' && sub !== '' ? sub : String(BUILT_IN_IDENTITY['sub'])
}
