import { computed, signal } from '@preact/signals'
import type { AnswerOf } from '../../api/operations.ts'
import { call, session } from './platform.ts'

// The most that the API answers at once.
const MOST_COMMANDS = 1_000

const commands = signal<AnswerOf<'listCommands'>['items']>([])
const titles = computed(() => new Map(commands.value.map(({ id, title }) => [id, title])))
let isReading = false

/** The title of a command; the id of one that the user may not read, or that was removed. */
export function commandLabel(id: string): string {
  if (!isReading && session.may('listCommands')) void readCommands()
  return titles.value.get(id) ?? id
}

/** The ids of the commands that the user may read, ordered by title. */
export function commandChoices(): readonly string[] {
  if (!isReading && session.may('listCommands')) void readCommands()
  return commands.value.toSorted((a, b) => a.title.localeCompare(b.title)).map(({ id }) => id)
}

/** Reads all commands for a user who may read the policy, and the commands that the user may run for any other. */
export function listKnownCommands(signal?: AbortSignal) {
  const all = session.may('getCommandPolicy') && { all: true }
  return call('listCommands', { query: { limit: MOST_COMMANDS, ...all } }, signal)
}

/** Once in a visit: commands have no events. After a failure it is tried again. */
async function readCommands(): Promise<void> {
  isReading = true
  const result = await listKnownCommands()
  isReading = result.ok
  if (result.ok) commands.value = result.value.items
}
