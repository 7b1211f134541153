import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import {
  dataBackupsDomain,
  type DataBackup,
  type DataBackupDeps,
} from '../../src/domains/data-backups/index.ts'
import { systemClock, type WaitingClock } from '../../src/kernel/clock.ts'
import { createSnapshots } from '../../src/store/files/snapshot.ts'
import type { DialectName } from '../../src/store/dialects/capabilities.ts'
import type { Store } from '../../src/store/store.ts'
import { domainParts } from './domain-world.ts'
import { eventually } from './eventually.ts'
import { temporaryDirectory } from './platform.ts'
import { testStore } from './store.ts'

export const FIRST_PAGE = { limit: 1_000 }

export interface OffsetClock extends WaitingClock {
  /** Sets the wall clock forward. */
  jump(milliseconds: number): void
}

function offsetClock(): OffsetClock {
  let offset = 0
  return {
    ...systemClock,
    now: () => systemClock.now() + offset,
    jump: (milliseconds) => void (offset += milliseconds),
  }
}

/** The domain on a database and a directory, as one process has it. */
export function backupsOf(store: Store, directory: string, deps: Partial<DataBackupDeps> = {}) {
  const { record, deps: parts } = domainParts<DataBackup>(store, systemClock)
  const domain = dataBackupsDomain.create({
    ...parts,
    clock: systemClock,
    snapshots: createSnapshots(store),
    directory,
    keep: 7,
    ...deps,
  })
  const { service: backups, worker } = domain
  /** A reader may see the end of a backup before its event was recorded here. */
  const ended = async (id: string) => {
    await eventually('the backup has ended', () =>
      record.events.some(({ type, subject }) => subject === id && type !== 'data.backup.started'),
    )
    return backups.get(id)
  }
  return {
    ...domain,
    backups,
    ...record,
    ended,
    files: () => readdirSync(directory).toSorted(),
    request: (note?: string): Promise<DataBackup> =>
      store.write((tx) => backups.create(tx, note === undefined ? {} : { note }, 'ada')),
    async make(note?: string): Promise<DataBackup> {
      return ended((await this.request(note)).id)
    },
    start: () => worker.start(),
    stop: () => worker.stop(),
  }
}

/** A database, a directory, and a process that makes backups. */
export async function backupWorld(
  dialect: DialectName,
  deps: (store: Store) => Partial<DataBackupDeps> = () => ({}),
) {
  await using opening = new AsyncDisposableStack()
  const clock = offsetClock()
  const { path } = opening.use(temporaryDirectory())
  const { store, address } = opening.use(await testStore(dialect, clock))
  const directory = join(path, 'backups')
  const process = backupsOf(store, directory, { clock, ...deps(store) })
  opening.defer(() => process.stop())
  process.start()
  const opened = opening.move()
  return { ...process, store, address, directory, clock, [Symbol.asyncDispose]: () => opened.disposeAsync() }
}
