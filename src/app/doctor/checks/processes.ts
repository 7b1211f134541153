import type { Config } from '../../../config/config.ts'
import { toRfc3339 } from '../../../kernel/time.ts'
import type { ServingProcess } from '../../../store/work/serving.ts'
import { fine, skipped, warning, type Check, type CheckFinding } from '../check.ts'

/** Which processes serve this database, and whether they belong together. */
export const processesCheck: Check = {
  name: 'processes',
  run: async ({ loaded: { config }, database }) => {
    const activity = (await database().catch(() => undefined))?.activity
    if (!activity) return [skipped('of this database', 'needs the database')]
    const { processes } = activity
    if (processes.length === 0) return [skipped('of this database', 'none runs, or only read-only ones')]
    return [...processes.map(shown), ...versions(processes), ...differences(config, processes)]
  },
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
  const detail = `the processes have several: ${found.join(' and ')}`
  return [warning('version', detail, 'restart those of the older release, with the program of the newer one')]
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
      ? [
          warning(
            'bus',
            `the processes have several: ${buses.join(' and ')}; each event goes to one of them`,
            BUS_REMEDY,
          ),
        ]
      : buses[0] === serversOf(bus.server.text)
        ? []
        : [
            warning(
              'bus',
              `the processes have ${buses[0]}, and this configuration has ${bus.server.text}`,
              OWN_BUS_REMEDY,
            ),
          ]),
    ...directories.map(([host, found]) =>
      warning('data_dir', `the processes on ${host} have several: ${found}`, DIRECTORY_REMEDY),
    ),
  ]
}

const ONE_EACH =
  'if they are two installations, give one of them a database of its own (data_dir, or database.url)'
const BUS_REMEDY = `${ONE_EACH}; if it is one, give all the same bus.server; if these addresses lead to the same servers, nothing`
const OWN_BUS_REMEDY =
  'restart the processes if bus.server was changed, or run the doctor with their configuration (--config)'
const DIRECTORY_REMEDY = `${ONE_EACH}; if it is one, give all the same data_dir: keys, certificates and backups are in it`

function valuesOf(processes: readonly ServingProcess[], read: (process: ServingProcess) => string): string[] {
  return [...new Set(processes.map(read))].toSorted()
}

/** The order of the servers does not matter. */
function serversOf(bus: string): string {
  return bus.split(',').toSorted().join(',')
}
