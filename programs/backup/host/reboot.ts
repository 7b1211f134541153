import { MINUTE } from '../../../src/kernel/time.ts'
import type { Shell } from './shell.ts'

/** The unit of the platform (deploy/systemd). */
const PLATFORM_UNIT = 'platform.service'

// A unit gets 90 s after SIGTERM by default, and is killed then.
const STOP_TIMEOUT_MS = 3 * MINUTE
const REBOOT_TIMEOUT_MS = MINUTE

export interface RebootDeps {
  readonly shell: Shell
  /** The units that are stopped before the reboot, in this order. */
  readonly units?: readonly string[]
  /** The setting `reboot_command`. */
  readonly command: readonly string[]
  /** Takes a line for each step, with what has failed. */
  readonly log: (line: string) => void
}

/**
 * Stops the units of the platform, then runs the reboot command. `systemctl stop` returns when every session was closed
 * with 1001 and every request was answered, whereas `systemctl reboot` only asks for the stop of all units: a limit of the
 * shutdown, or another reboot command, could cut the sessions. A unit that cannot be stopped does not hold the reboot
 * back, which stops it, too. Resolves with why there is no reboot; the units run again then.
 */
export async function drainAndReboot(deps: RebootDeps): Promise<string | undefined> {
  const { shell, units = [PLATFORM_UNIT], command, log } = deps
  const stopped: string[] = []
  for (const unit of units) if (await stopUnit(deps, unit)) stopped.push(unit)
  const outcome = await shell.run(command, { timeoutMs: REBOOT_TIMEOUT_MS })
  if (outcome.status === 'succeeded') return undefined
  for (const unit of stopped.toReversed()) {
    const started = await shell.run(['systemctl', 'start', unit], { timeoutMs: STOP_TIMEOUT_MS })
    log(
      started.status === 'succeeded' ? `started ${unit} again` : `${unit} is not running: ${started.reason}`,
    )
  }
  return outcome.reason
}

/** Whether the unit was stopped. */
async function stopUnit({ shell, log }: RebootDeps, unit: string): Promise<boolean> {
  // Fails for a unit that does not run, or does not exist, and without systemd.
  const active = await shell.ask(['systemctl', 'is-active', '--quiet', unit])
  if (active.status !== 'succeeded') {
    log(`${unit} is not active, so it is not stopped (${active.reason})`)
    return false
  }
  const outcome = await shell.run(['systemctl', 'stop', unit], { timeoutMs: STOP_TIMEOUT_MS })
  log(outcome.status === 'succeeded' ? `stopped ${unit}` : `${unit} could not be stopped: ${outcome.reason}`)
  return true
}
