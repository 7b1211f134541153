import { computed, signal, type ReadonlySignal, type Signal } from '@preact/signals'
import { defineWords } from '../../i18n/language.ts'
import { call, session } from './platform.ts'

const words = defineWords({
  you: ['you', '您'],
  by: [(name: string) => `by ${name}`, (name) => `操作者：${name}`],
  channel: [(name: string) => `the channel ${name}`, (name) => `支付渠道 ${name}`],
})

// Users have ids of this form; the id of another caller, such as a local tool, is its name.
const USER_ID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/

const names = new Map<string, Signal<string>>()

// The beginning of the actor that moves the order of a payment.
const CHANNEL = 'payment:'

/** The user who is signed in, the name of another user or of a payment channel, or the beginning of an id that has no name. */
export function userLabel(id: string): string {
  if (id === session.bearer.value?.id) return words().you
  if (id.startsWith(CHANNEL)) return words().channel(id.slice(CHANNEL.length))
  if (!USER_ID.test(id)) return id
  return (names.get(id) ?? askName(id)).value
}

/** Who has made a change: `by` with the label of the actor. */
export function byUser(id: string): string {
  return words().by(userLabel(id))
}

/** The name of a user; null until it is read, and for what is no user. */
export function userName(id: string): string | null {
  if (!USER_ID.test(id)) return null
  const name = (names.get(id) ?? askName(id)).value
  return name === shortId(id) ? null : name
}

// The most that the API answers at once.
const MOST_USERS = 1_000

const users = signal<readonly { readonly id: string; readonly enabled: boolean }[]>([])
const choices = computed(() => users.value.map(({ id }) => id))
const enabledChoices = computed(() => users.value.filter(({ enabled }) => enabled).map(({ id }) => id))
// Whether the users were read, or are being read.
let isRequested = false

/** The ids of the users among whom this user may choose, ordered by name. Only administrators may list the others. */
export function userChoices(): readonly string[] {
  return allowedChoices(choices)
}

/** The ids of {@link userChoices} whose users are enabled. */
export function enabledUserChoices(): readonly string[] {
  return allowedChoices(enabledChoices)
}

function allowedChoices(all: ReadonlySignal<readonly string[]>): readonly string[] {
  const me = session.bearer.value?.id
  if (!session.may('listUsers')) return me === undefined ? [] : [me]
  if (!isRequested) void readUsers()
  return all.value
}

/** The choices of a filter; empty for a user who may not list users, and types an id. */
export function listedUsers(): readonly string[] {
  return session.may('listUsers') ? userChoices() : []
}

/** Reads the users once in a visit: no event tells of their changes. After a failure the next call tries again. */
async function readUsers(): Promise<void> {
  isRequested = true
  const result = await call('listUsers', { query: { limit: MOST_USERS } })
  isRequested = result.ok
  if (!result.ok) return
  for (const { id, name } of result.value.items) setName(id, name)
  users.value = result.value.items.toSorted((a, b) => a.name.localeCompare(b.name))
}

// The most that one call takes.
const MOST_NAMES = 50
// The first characters of a UUIDv7, which contain its time: 12 hexadecimal digits and a hyphen.
const SHORT_LENGTH = 13

const idsToRead: string[] = []

function shortId(id: string): string {
  return `${id.slice(0, SHORT_LENGTH)}…`
}

/** The beginning of the id until the name is read, and for a user who was deleted. */
function askName(id: string): Signal<string> {
  const name = signal(shortId(id))
  names.set(id, name)
  // One call reads all names that are drawn together.
  if (idsToRead.push(id) === 1) queueMicrotask(() => void readNames(idsToRead.splice(0)))
  return name
}

async function readNames(ids: readonly string[]): Promise<void> {
  for (let begin = 0; begin < ids.length; begin += MOST_NAMES) {
    const part = ids.slice(begin, begin + MOST_NAMES)
    const result = await call('listUserNames', { query: { ids: part.join(',') } })
    // After a failure they are asked again when they are drawn again.
    if (!result.ok) for (const id of part) names.delete(id)
    else for (const { id, name } of result.value.items) setName(id, name)
  }
}

function setName(id: string, name: string): void {
  const known = names.get(id)
  if (known) known.value = name
  else names.set(id, signal(name))
}
