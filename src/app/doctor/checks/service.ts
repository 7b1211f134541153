import { realpathSync } from 'node:fs'
import { isAtOrAbove } from '../../unmounted-disk.ts'
import { shellWord } from '../../../kernel/text.ts'
import { fault, fine, skipped, warning, type Check, type CheckFinding } from '../check.ts'
import type { ServiceUnit } from '../service-unit.ts'

// Once may be an accident, and systemd counts from the last start by hand.
const MOST_RESTARTS = 2

/** Whether the units of systemd that serve with this configuration run, as a user that is there, and may write their data. */
export const serviceCheck: Check = {
  name: 'service',
  async run({ loaded: { config }, units, hasUser }) {
    const found = await units()
    if (found.length === 0) return [skipped('unit of systemd', 'none serves with this configuration file')]
    const users = await Promise.all(
      found.map(async (unit) => ((await hasUser(unit.user)) ? [] : [lostUser(unit)])),
    )
    return [
      ...found.flatMap((unit) => [stateOf(unit), ...readOnlyData(unit, config.dataDir)]),
      ...users.flat(),
    ]
  },
}

function stateOf({
  name,
  state,
  subState,
  result,
  exitStatus: status,
  restarts,
  isEnabled,
}: ServiceUnit): CheckFinding {
  const values = { unit: name, result, status }
  if (state === 'failed') return fault(name, 'service_failed', values)
  if (subState.startsWith('auto-restart')) return fault(name, 'service_restarts', values)
  if (state === 'inactive')
    return isEnabled ? warning(name, 'service_stopped', values) : skipped(name, 'is stopped, and not enabled')
  if (restarts > MOST_RESTARTS) return warning(name, 'service_unstable', { unit: name, count: restarts })
  return fine(name, `${state} (${subState})`)
}

/** Outside of the unit the same directory can be written. */
function readOnlyData({ name, writablePaths }: ServiceUnit, dataDir: string): CheckFinding[] {
  const path = realPath(dataDir)
  if (writablePaths?.some((each) => isAtOrAbove(realPath(each), path)) ?? true) return []
  const directory = `/etc/systemd/system/${name}.d`
  const command = [
    `mkdir -p ${directory}`,
    String.raw`printf '[Service]\nReadWritePaths="%s"\n' ${shellWord(dataDir)} > ${directory}/data.conf`,
    'systemctl daemon-reload',
    `systemctl restart ${name}`,
  ].join(' && ')
  return [fault(name, 'service_read_only', { path: dataDir, command })]
}

function realPath(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}

function lostUser({ name, user }: ServiceUnit): CheckFinding {
  return fault(name, 'service_user_missing', { user })
}
