import type { NewUser, User, UserChange, Users } from '../../src/domains/users/index.ts'
import type { Secret } from '../../src/kernel/secret.ts'
import type { Store } from '../../src/store/store.ts'
import { inTransactions } from './store.ts'

export type TestUsers = ReturnType<typeof usersOf>

/** The port for users without VPN sessions. */
export const NO_SESSIONS = { endOf: async () => undefined, endOfToken: async () => undefined }

/** Who makes the changes of a test. */
export const ACTOR = 'root-1'

/** The users of a test: each change is prepared and committed in its own transaction. */
export function usersOf(store: Store, users: Users) {
  const committed = inTransactions(store, users, 'create', 'change', 'setPassword', 'remove')
  return {
    ...readers(users),
    create: async (wanted: NewUser): Promise<User> =>
      committed.create(await users.prepareAccount(wanted), ACTOR),
    change: (id: string, change: UserChange) => committed.change(id, change, ACTOR),
    setPassword: async (id: string, password: string, verifiedHash?: Secret) => {
      const prepared = await users.preparePassword(id, password)
      return committed.setPassword(id, verifiedHash ? { ...prepared, verifiedHash } : prepared, ACTOR)
    },
    remove: (id: string) => committed.remove(id, ACTOR),
  }
}

function readers(users: Users) {
  return {
    users,
    get: users.get.bind(users),
    find: users.find.bind(users),
    getByName: users.getByName.bind(users),
    list: users.list.bind(users),
    ensureFirstAdmin: users.ensureFirstAdmin.bind(users),
    onUserChanged: users.onUserChanged.bind(users),
  }
}
