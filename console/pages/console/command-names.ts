import { batch, computed, signal } from '@preact/signals'
import type { AnswerOf } from '../../api/operations.ts'
import { call, session } from './platform.ts'
import { localCommand } from './commands/built-in.ts'
import { pathOf } from './view.ts'

// The most that the API answers at once.
const MOST_COMMANDS = 1_000

const commands = signal<AnswerOf<'listCommands'>['items']>([])
const runnable = signal<ReadonlySet<string>>(new Set())
const titles = computed(() => new Map(commands.value.map(({ id, title }) => [id, title])))
// Whether the commands were read, or are being read.
let isRequested = false

/** The title of a command; the id of one that the user may not read, or that was removed. */
export function commandLabel(id: string): string {
  readOnce()
  return localCommand({ id, title: titles.value.get(id) ?? id }).title
}

/** The ids of the commands that the user may read, ordered by title. */
export function commandChoices(): readonly string[] {
  readOnce()
  return commands.value.toSorted((a, b) => a.title.localeCompare(b.title)).map(({ id }) => id)
}

/** The page of a command that the user may run, else that of its rule; undefined for a user who may read neither. */
export function commandAddress(id: string): string | undefined {
  if (!commandChoices().includes(id)) return undefined
  const name = runnable.value.has(id) ? 'commands' : 'command-policy'
  return pathOf(name, id)
}

/** Reads all commands for a user who may read the policy, and the commands that the user may run for any other. */
export function listKnownCommands(signal?: AbortSignal) {
  const all = session.may('getCommandPolicy') && { all: true }
  return call('listCommands', { query: { limit: MOST_COMMANDS, ...all } }, signal)
}

function readOnce(): void {
  if (!isRequested && session.may('listCommands')) void readCommands()
}

/** Once in a visit: commands have no events. After a failure it is tried again. */
async function readCommands(): Promise<void> {
  isRequested = true
  const [readable, executable] = await Promise.all([
    listKnownCommands(),
    session.may('getCommandPolicy') ? call('listCommands', { query: { limit: MOST_COMMANDS } }) : undefined,
  ])
  isRequested = readable.ok
  if (!readable.ok) return
  const mayRun = executable?.ok ? executable.value.items : readable.value.items
  batch(() => {
    commands.value = readable.value.items
    runnable.value = new Set(mayRun.map(({ id }) => id))
  })
}
