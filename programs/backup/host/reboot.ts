import { MINUTE } from '../../../src/kernel/time.ts'
import type { CommandOutcome, Shell } from './shell.ts'

/** The units of the platform: one for all modules, or one for each of them (deploy/systemd). */
const PLATFORM_UNITS = ['platform.service', 'platform@*.service'] as const
const UNIT_NAME = /\bplatform(?:@\S+)?\.service\b/

// A unit gets 90 s after SIGTERM by default, and is killed then.
const STOP_TIMEOUT_MS = 3 * MINUTE
const REBOOT_TIMEOUT_MS = MINUTE

export interface RebootDeps {
  readonly shell: Shell
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
  const { shell, command, log } = deps
  const units = await activeUnits(deps)
  for (const unit of units) await stopUnit(deps, unit)
  const outcome = await shell.run(command, { timeoutMs: REBOOT_TIMEOUT_MS })
  if (outcome.status === 'succeeded') return undefined
  for (const unit of units.toReversed()) {
    const started = await shell.run(['systemctl', 'start', unit], { timeoutMs: STOP_TIMEOUT_MS })
    log(
      started.status === 'succeeded' ? `started ${unit} again` : `${unit} is not running: ${started.reason}`,
    )
  }
  return outcome.reason
}

/** The gateway is the first: while its sessions end, the api still answers their requests. */
async function activeUnits({ shell, log }: RebootDeps): Promise<string[]> {
  const list = ['systemctl', 'list-units', '--plain', '--no-legend', '--state=active,reloading']
  // Fails without systemd.
  const listed = await shell.ask([...list, ...PLATFORM_UNITS])
  const lines = listed.status === 'succeeded' ? listed.output.split('\n') : []
  const units = lines.flatMap((line) => UNIT_NAME.exec(line)?.[0] ?? [])
  if (units.length === 0) log(`no unit of the platform is active, so none is stopped (${reasonOf(listed)})`)
  return units.toSorted((a, b) => Number(isGateway(b)) - Number(isGateway(a)))
}

const isGateway = (unit: string): boolean => unit.startsWith('platform@gateway')

const reasonOf = (outcome: CommandOutcome): string =>
  outcome.status === 'succeeded' ? 'systemctl lists none' : outcome.reason

async function stopUnit({ shell, log }: RebootDeps, unit: string): Promise<void> {
  const outcome = await shell.run(['systemctl', 'stop', unit], { timeoutMs: STOP_TIMEOUT_MS })
  log(outcome.status === 'succeeded' ? `stopped ${unit}` : `${unit} could not be stopped: ${outcome.reason}`)
}
