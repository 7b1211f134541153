import { useActions } from '../../../parts/actions/actions.ts'
import { focusTextFilter } from '../../../parts/list/filter-bar.tsx'
import { ObjectsPage } from '../../../parts/list/objects-page.tsx'
import { pathOf, type ViewProps } from '../view.ts'
import { session } from '../platform.ts'
import { userColumns } from './columns.tsx'
import { UserDrawer } from './drawer.tsx'
import { userList } from './model.ts'
import { NewUser } from './user-dialogs.tsx'
import { userWords } from './words.ts'

const PATH = pathOf({ name: 'users' })

/** The users: the list, and beside it the user that the address names. */
export function UsersPage({ id }: ViewProps) {
  const words = userWords()
  useActions(() => [{ title: words.find, keys: '/', run: focusTextFilter }])
  return (
    <ObjectsPage
      path={PATH}
      source={userList}
      words={words}
      columns={userColumns(words)}
      icon="users"
      id={id}
      newItem={
        session.may('createUser') && {
          title: words.newUser,
          dialog: (dialog) => <NewUser {...dialog} />,
        }
      }
      detail={({ id: shown, onClose }) => <UserDrawer key={shown} id={shown} onClose={onClose} />}
    />
  )
}
