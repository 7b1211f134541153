// A process that makes the requested backup and may end itself at one step of it. Its arguments: JSON of {@link Task}.
import { appendFileSync } from 'node:fs'
import { BackupFiles } from '../../src/domains/data-backups/files.ts'
import { backupRunner } from '../../src/domains/data-backups/worker.ts'
import { systemClock } from '../../src/kernel/clock.ts'
import { silentLogger } from '../../src/kernel/logger.ts'
import { noMetrics } from '../../src/kernel/metrics.ts'
import { Secret } from '../../src/kernel/secret.ts'
import { openStore, type DatabaseAddress } from '../../src/store/open.ts'
import { createSnapshots } from '../../src/store/files/snapshot.ts'

/** The steps at which the process can end, in their order. */
export const STEPS = [
  'claimed',
  'half written',
  'written',
  'verified',
  'not yet placed',
  'placed',
  'not yet recorded',
] as const
export type Step = (typeof STEPS)[number]

export interface Task {
  readonly database: { readonly path: string } | { readonly url: string }
  readonly directory: string
  /** Without it the test ends the process. */
  readonly step?: Step
}

class DyingFiles extends BackupFiles {
  override async place(id: string): Promise<void> {
    end('not yet placed')
    await super.place(id)
    end('placed')
  }
}

const task = JSON.parse(process.argv[2] ?? 'null') as Task | null
if (task) await makeBackup(task)

function end(step: Step): void {
  if (task?.step === step) process.kill(process.pid, 'SIGKILL')
}

async function makeBackup({ database, directory }: Task): Promise<void> {
  const address: DatabaseAddress =
    'path' in database
      ? { kind: 'sqlite', path: database.path }
      : { kind: 'postgres', url: new Secret(database.url) }
  const parts = { clock: systemClock, metrics: noMetrics, logger: silentLogger }
  const store = await openStore({ database: address, ...parts })
  const real = createSnapshots(store)
  const runner = backupRunner({
    store,
    ...parts,
    files: new DyingFiles({ directory, extension: real.extension }),
    snapshots: {
      ...real,
      async write(path, options) {
        end('claimed')
        if (task?.step === 'half written') {
          appendFileSync(`${path}.partial`, 'half of the file')
          appendFileSync(`${path}.partial-journal`, 'of the engine')
        }
        end('half written')
        await real.write(path, options)
        end('written')
      },
      async verify(path, options) {
        const contents = await real.verify(path, options)
        end('verified')
        return contents
      },
    },
    finish: async () => end('not yet recorded'),
  })
  runner.start()
  // The test ends the process if it does not end itself.
  setInterval(() => undefined, 60_000)
}
