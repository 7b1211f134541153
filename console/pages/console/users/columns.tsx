import { localTime } from '../../../i18n/local.ts'
import type { TableColumn } from '../../../parts/list/data-table.tsx'
import { StatusBadge } from '../../../parts/status-badge.tsx'
import { userStateOf, USER_TONES, type User } from './model.ts'
import type { userWords } from './words.ts'

export function userColumns(words: ReturnType<typeof userWords>): readonly TableColumn<User>[] {
  const { fields, states, roles: labels, never } = words
  return [
    { key: 'name', title: fields.name, cell: ({ name }) => <bdi>{name}</bdi> },
    {
      key: 'roles',
      title: fields.roles,
      cell: ({ roles }) => roles.map((role) => labels[role]).join(', '),
    },
    {
      key: 'state',
      title: fields.state,
      isFromMedium: true,
      cell: (user) => <StatusBadge tone={USER_TONES[userStateOf(user)]} label={states[userStateOf(user)]} />,
    },
    {
      key: 'last_login_at',
      title: fields.last_login_at,
      isWideOnly: true,
      cell: ({ last_login_at }) => (last_login_at === null ? never : localTime(last_login_at)),
    },
    {
      key: 'created_at',
      title: fields.created_at,
      isWideOnly: true,
      cell: ({ created_at }) => <time dateTime={created_at}>{localTime(created_at)}</time>,
    },
  ]
}
