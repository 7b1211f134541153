import type { OutgoingHttpHeaders } from 'node:http'
import type { Role } from '../../../src/kernel/identity.ts'
import type { SignedIn } from './tokens.ts'

/** Who the platform may take the sender for. */
export type Outcome =
  | { readonly caller: 'nobody' }
  | { readonly caller: 'known'; readonly id: string; readonly roles: readonly Role[] }
  /** 400, with the header named in the details. */
  | { readonly caller: 'malformed'; readonly header: string }
  /** 401: a token that is none is not made up for by headers. */
  | { readonly caller: 'refused' }

/** Headers that say who is calling, with what they are worth from a trusted peer; from any other they say nothing. */
export interface HeaderSet {
  readonly name: string
  readonly headers: OutgoingHttpHeaders
  readonly fromTrustedPeer: Outcome
  /** Default: the headers count for nothing. */
  readonly fromAnyone?: Outcome
}

const NOBODY: Outcome = { caller: 'nobody' }
const REFUSED: Outcome = { caller: 'refused' }
const known = (...roles: Role[]): Outcome => ({ caller: 'known', id: 'tool', roles })
const malformed = (header: string): Outcome => ({ caller: 'malformed', header })

const ID = { 'x-user-id': 'tool' }
const ADMIN = { ...ID, 'x-user-roles': 'admin' }
const KILO = 1_024

type Row = readonly [name: string, headers: OutgoingHttpHeaders, fromTrustedPeer: Outcome]

const PLAIN: readonly Row[] = [
  ['nothing', {}, NOBODY],
  ['an id', ID, known()],
  ['roles', { 'x-user-roles': 'admin' }, NOBODY],
  ['a name', { 'x-user-name': 'root', 'x-user-roles': 'admin' }, NOBODY],
  ['an id and a role', ADMIN, known('admin')],
  ['headers in capitals', { 'X-USER-ID': 'tool', 'X-USER-ROLES': 'admin' }, known('admin')],
  ['an id and roles', { ...ID, 'x-user-roles': 'auditor, devops' }, known('devops', 'auditor')],
  ['roles with empty ones between', { ...ID, 'x-user-roles': ' , ,auditor,,' }, known('auditor')],
  ['an unknown role', { ...ID, 'x-user-roles': 'root' }, known()],
  ['an unknown role and a known one', { ...ID, 'x-user-roles': 'root,service' }, known('service')],
  ['a role in capitals', { ...ID, 'x-user-roles': 'ADMIN' }, known()],
  ['roles with another separator', { ...ID, 'x-user-roles': 'auditor;admin admin|admin' }, known()],
  ['a role in quotes', { ...ID, 'x-user-roles': '"admin"' }, known()],
  ['roles as JSON', { ...ID, 'x-user-roles': '["admin"]' }, known()],
  ['a role behind a tab', { ...ID, 'x-user-roles': 'auditor,\tservice' }, known('service', 'auditor')],
  ['no role', { ...ID, 'x-user-roles': '' }, known()],
  ['8 KB of roles', { ...ID, 'x-user-roles': 'admi,'.repeat(1_638) }, known()],
  ['a member of every object as a role', { ...ID, 'x-user-roles': 'constructor,__proto__' }, known()],
]

const NO_IDS: readonly Row[] = [
  ['an empty id', { ...ADMIN, 'x-user-id': '' }, malformed('x-user-id')],
  ['an id with a space', { ...ADMIN, 'x-user-id': 'tool admin' }, malformed('x-user-id')],
  ['an id above ASCII', { ...ADMIN, 'x-user-id': 't\u00f6\u00f6l' }, malformed('x-user-id')],
  ['an id of 129 characters', { ...ADMIN, 'x-user-id': 'a'.repeat(129) }, malformed('x-user-id')],
  ['an id of 8 KB', { ...ADMIN, 'x-user-id': 'a'.repeat(8 * KILO) }, malformed('x-user-id')],
]

const REPEATED: readonly Row[] = [
  ['an id twice', { ...ADMIN, 'x-user-id': ['tool', 'other'] }, malformed('x-user-id')],
  ['the same id twice', { ...ADMIN, 'x-user-id': ['tool', 'tool'] }, malformed('x-user-id')],
  ['roles twice', { ...ID, 'x-user-roles': ['auditor', 'admin'] }, malformed('x-user-roles')],
  ['roles and none', { ...ID, 'x-user-roles': ['auditor', ''] }, malformed('x-user-roles')],
  ['a name twice', { ...ADMIN, 'x-user-name': ['tool', 'root'] }, malformed('x-user-name')],
  ['roles twice without an id', { 'x-user-roles': ['auditor', 'admin'] }, malformed('x-user-roles')],
  [
    'roles twice through a proxy',
    { ...ID, 'x-user-roles': ['auditor', 'admin'], forwarded: 'for=192.0.2.1' },
    malformed('x-user-roles'),
  ],
]

const LOOKALIKES: readonly Row[] = [
  ['underscores', { x_user_id: 'tool', x_user_roles: 'admin' }, NOBODY],
  [
    'underscores beside dashes',
    { ...ID, 'x-user-roles': 'auditor', x_user_roles: 'admin', X_USER_ID: 'root' },
    known('auditor'),
  ],
  ['mixed dashes', { 'x-user_id': 'tool', 'x_user-roles': 'admin' }, NOBODY],
  [
    'other names',
    { 'x-userid': 'tool', 'x-user': 'tool', 'x-roles': 'admin', 'remote-user': 'tool' },
    NOBODY,
  ],
  ['the role in the singular', { ...ID, 'x-user-role': 'admin' }, known()],
  ['a user of another gateway', { 'x-forwarded-user': 'tool', ...ADMIN }, NOBODY],
  ['a cookie', { cookie: 'x-user-id=tool; x-user-roles=admin' }, NOBODY],
]

const FORWARDED: readonly Row[] = [
  { forwarded: 'for=127.0.0.1' },
  { forwarded: '' },
  { 'x-forwarded-for': '127.0.0.1' },
  { 'X-Forwarded-For': '' },
  { 'x-forwarded-host': 'localhost' },
  { 'x-forwarded-proto': 'http' },
  { 'x-forwarded-port': '80' },
  { 'x-forwarded-anything': '1' },
].map((header) => [`${JSON.stringify(header)}, which a proxy adds`, { ...ADMIN, ...header }, NOBODY] as const)

const LOCAL_HOSTS = [
  'localhost',
  'LocalHost:9600',
  '127.0.0.1',
  '127.0.0.1:1',
  '[::1]:9600',
  '[::1]',
  '10.1.2.3',
  '10.1.2.3:',
]
const OTHER_HOSTS = [
  'platform.example',
  'localhost.evil.example',
  '127.0.0.1.evil.example',
  'evil.example:127.0.0.1',
  'evil.example#127.0.0.1',
  'localhost:80@evil.example',
  '[::1]evil.example',
  '[::1',
  '127.1',
  '2130706433',
  '0x7f.0.0.1',
  '127.0.0.1:80:80',
  '127.0.0.1, evil.example',
]
const HOSTS: readonly Row[] = [
  ...LOCAL_HOSTS.map((host) => [`the host ${host}`, { ...ADMIN, host }, known('admin')] as const),
  ...OTHER_HOSTS.map((host) => [`the host ${JSON.stringify(host)}`, { ...ADMIN, host }, NOBODY] as const),
]

const NO_TOKENS = {
  'a token that is none': 'Bearer eyJhbGciOiJub25lIn0.eyJzdWIiOiJyb290IiwiYWRtaW4iOnRydWV9.',
  'a word': 'Bearer admin',
  'no token': 'Bearer',
  'an empty header': '',
  'another scheme': 'Basic cm9vdDpyb290',
  'a token of 9 KB': `Bearer ${'a'.repeat(9 * KILO)}`,
}

/** Every set; those with a token need the tokens of an auditor. */
export function headerSets(auditor: SignedIn): HeaderSet[] {
  const itself: Outcome = { caller: 'known', id: auditor.id, roles: ['auditor'] }
  const authorization = `Bearer ${auditor.token}`
  const rows = [...PLAIN, ...NO_IDS, ...REPEATED, ...LOOKALIKES, ...FORWARDED, ...HOSTS]
  const withToken = (
    name: string,
    headers: OutgoingHttpHeaders,
    fromTrustedPeer: Outcome = itself,
  ): HeaderSet => ({
    name,
    headers: { authorization, ...headers },
    fromTrustedPeer,
    fromAnyone: itself,
  })
  return [
    ...rows.map(([name, headers, fromTrustedPeer]) => ({ name, headers, fromTrustedPeer })),
    ...Object.entries(NO_TOKENS).map(([name, value]) => ({
      name: `${name} beside headers`,
      headers: { ...ADMIN, authorization: value },
      fromTrustedPeer: REFUSED,
      fromAnyone: REFUSED,
    })),
    withToken('a token', {}),
    withToken('a token beside the headers of an admin', ADMIN),
    withToken('a token beside headers that are none', { 'x-user-id': '', 'x-user-roles': 'admin' }),
    withToken('a token through a proxy', { 'x-forwarded-for': '192.0.2.1', host: 'platform.example' }),
    withToken(
      'a token beside roles twice',
      { 'x-user-roles': ['auditor', 'admin'] },
      malformed('x-user-roles'),
    ),
  ]
}
