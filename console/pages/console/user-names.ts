import { computed, signal, type ReadonlySignal, type Signal } from '@preact/signals'
import { defineWords } from '../../i18n/language.ts'
import { call, session } from './platform.ts'

const words = defineWords({ en: { you: 'you' }, zh: { you: '您' } })

// Users have ids of this form; the id of another caller, such as a local tool, is its name.
const USER_ID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/

const names = new Map<string, Signal<string>>()

/** The user who is signed in, the name of another user, or the id. Only administrators may read the names. */
export function userLabel(id: string): string {
  if (id === session.bearer.value?.id) return words().you
  if (!session.may('getUser') || !USER_ID.test(id)) return id
  return (names.get(id) ?? readName(id)).value
}

// The most that the API answers at once.
const MOST_USERS = 1_000

const users = signal<readonly { readonly id: string; readonly enabled: boolean }[]>([])
const choices = computed(() => users.value.map(({ id }) => id))
const enabledChoices = computed(() => users.value.filter(({ enabled }) => enabled).map(({ id }) => id))
let isReading = false

/** The ids of the users among whom this user may choose, ordered by name. Only administrators may list the others. */
export function userChoices(): readonly string[] {
  return chosenFrom(choices)
}

/** The same without the users who are disabled. */
export function enabledUserChoices(): readonly string[] {
  return chosenFrom(enabledChoices)
}

function chosenFrom(all: ReadonlySignal<readonly string[]>): readonly string[] {
  const own = session.bearer.value?.id
  if (!session.may('listUsers')) return own === undefined ? [] : [own]
  if (!isReading) void readUsers()
  return all.value
}

/** The same for a filter: without them the reader types an id. */
export function listedUsers(): readonly string[] {
  return session.may('listUsers') ? userChoices() : []
}

/** Once in a visit: users have no events. After a failure it is tried again. */
async function readUsers(): Promise<void> {
  isReading = true
  const result = await call('listUsers', { query: { limit: MOST_USERS } })
  isReading = result.ok
  if (!result.ok) return
  for (const { id, name } of result.value.items) names.set(id, signal(name))
  users.value = result.value.items.toSorted((a, b) => a.name.localeCompare(b.name))
}

/** The id until the name is read, and for a user who was deleted. */
function readName(id: string): Signal<string> {
  const name = signal(id)
  names.set(id, name)
  void call('getUser', { path: { id } }).then((result) => {
    if (result.ok) name.value = result.value.name
  })
  return name
}
