import type { Config } from '../../../config/config.ts'
import { toRfc3339 } from '../../../kernel/time.ts'
import type { ServingProcess } from '../../../store/work/marks.ts'
import { fine, skipped, warning, type Check, type CheckFinding } from '../check.ts'
import { findRecordedListener } from './network.ts'

/** Which processes serve this database, and whether they belong together. */
export const processesCheck: Check = {
  name: 'processes',
  run: async ({ loaded: { config }, database }) => {
    const processes = (await database().catch(() => undefined))?.activity.processes
    if (!processes) return [skipped('of this database', 'needs the database')]
    if (processes.length === 0)
      return [
        (await otherDatabase(config)) ?? skipped('of this database', 'none runs, or only read-only ones'),
      ]
    return [...processes.map(shown), ...versions(processes), ...differences(config, processes)]
  },
}

/**
 * What to say where no process serves the configured database and a platform runs beside: a password that a command sets here
 * would not be that of the platform that people use.
 */
export async function otherDatabase(config: Config): Promise<CheckFinding | undefined> {
  const other = await findRecordedListener(config)
  if (!other) return undefined
  return warning('of this database', 'process_of_other_database', { listener: other.setting })
}

function shown({ host, processId, modules, version, bus, dataDir, startedAt }: ServingProcess): CheckFinding {
  const facts = [
    version,
    modules.join(', '),
    `bus ${bus}`,
    `data_dir ${dataDir}`,
    `since ${toRfc3339(startedAt)}`,
  ]
  return fine(`${host}, process ${processId}`, facts.join('; '))
}

/** An upgrade ends when the last process was restarted; what an older one does not know, it does not do. */
function versions(processes: readonly ServingProcess[]): CheckFinding[] {
  const found = valuesOf(processes, ({ version }) => version)
  if (found.length < 2) return []
  return [warning('version', 'releases_differ', { versions: found.join(' and ') })]
}

/** Two installations on one database answer for each other, and each event goes to the bus of whichever delivers. */
function differences({ bus }: Config, processes: readonly ServingProcess[]): CheckFinding[] {
  const buses = valuesOf(processes, (each) => serversOf(each.bus))
  const directories = [...Map.groupBy(processes, ({ host }) => host)].flatMap(([host, those]) => {
    const found = valuesOf(those, ({ dataDir }) => dataDir)
    return found.length > 1 ? [[host, found.join(' and ')] as const] : []
  })
  return [
    ...(buses.length > 1
      ? [warning('bus', 'buses_differ', { buses: buses.join(' and ') })]
      : buses[0] === serversOf(bus.server.text)
        ? []
        : [warning('bus', 'bus_of_others', { bus: String(buses[0]), own: bus.server.text })]),
    ...directories.map(([host, found]) =>
      warning('data_dir', 'data_dirs_differ', { host, directories: found }),
    ),
  ]
}

function valuesOf(processes: readonly ServingProcess[], read: (process: ServingProcess) => string): string[] {
  return [...new Set(processes.map(read))].toSorted()
}

/** The order of the servers does not matter. */
function serversOf(bus: string): string {
  return bus.split(',').toSorted().join(',')
}
