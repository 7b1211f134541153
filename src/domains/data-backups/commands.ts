import { builtInCommand, type BuiltInCommand } from '../../kernel/command.ts'
import { counted } from '../../kernel/counted.ts'
import { DAY } from '../../kernel/time.ts'
import type { Store } from '../../store/store.ts'
import type { DataBackups } from './service.ts'

const MAX_KEEP = 1_000

/** Makes a data backup, and waits for its end. */
export function backUpCommand(backups: Pick<DataBackups, 'backUp'>): BuiltInCommand {
  return builtInCommand({
    id: 'data.backup',
    title: 'Back up the database',
    description: 'Makes a data backup, and waits until it is completed and verified.',
    timeoutMs: DAY,
    async run({ actor, signal, print }) {
      const { id, status, error } = await backups.backUp({}, actor, signal)
      if (status === 'failed') throw new Error(`The data backup ${id} has failed: ${error}.`)
      print(`The data backup ${id} is ${status}.`)
    },
  })
}

/** Deletes old data backups. */
export function pruneBackupsCommand(
  backups: Pick<DataBackups, 'prune' | 'removeFiles'>,
  store: Store,
): BuiltInCommand {
  return builtInCommand({
    id: 'data.prune',
    title: 'Delete old data backups',
    description: 'Keeps the newest completed backups, always the newest verified one among them.',
    params: {
      keep: { type: 'integer', minimum: 1, maximum: MAX_KEEP, default: 7, description: 'How many are kept.' },
    },
    async run({ params, actor, print }) {
      const { removed, kept } = await store.write((tx) => backups.prune(tx, Number(params['keep']), actor))
      await backups.removeFiles()
      print(`Deleted ${counted(removed.length, 'data backup')} and kept ${kept.length}.`)
    },
  })
}
