export type UserIdentity = Readonly<Record<string, unknown>>

/** What `/userinfo` answers when `MOCK_USER_JSON` gives nothing else. */
export const BUILT_IN_IDENTITY: UserIdentity = {
  sub: 'mock_user_docvalue_0001',
  name: 'Mock User',
  preferred_username: 'mock.user',
  email: 'mock.user@example.com',
  email_verified: true,
  open_id: 'ou_mock_docvalue_0001',
  union_id: 'on_mock_docvalue_0001',
}

/** The `sub` of an id_token. An identity that has none can't pass a client's comparison with `/userinfo` anyway. */
export function subjectOf({ sub }: UserIdentity): string {
  return typeof sub === 'string' && sub !== '' ? sub : String(BUILT_IN_IDENTITY['sub'])
}
