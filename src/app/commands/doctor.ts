import { ConfigError } from '../../config/config-error.ts'
import type { LoadedConfig } from '../../config/config.ts'
import { fault } from '../doctor/check.ts'
import { doctorParts, examine, type DoctorFinding } from '../doctor/doctor.ts'
import { doctorReport, doctorText, gravest } from '../doctor/report.ts'
import { configOf, type CommandContext, type ConfigOptions } from './context.ts'

const EXIT_CODES = { ok: 0, warning: 0, error: 1 } as const
const WRONG_CONFIGURATION = 2

interface DoctorOptions extends ConfigOptions {
  readonly json?: boolean
}

/** `platform doctor`: examines this server and the platform on it, changes nothing, and resolves with the exit code. */
export async function runDoctor(context: CommandContext, options: DoctorOptions): Promise<number> {
  const loaded = loadOrFindings(context, options)
  const findings = Array.isArray(loaded) ? loaded : await examine(doctorParts(loaded, context.env))
  const inColor = context.stdout.isTTY === true && !context.env['NO_COLOR']
  const { columns } = context.stdout
  context.stdout.write(
    options.json ? `${JSON.stringify(doctorReport(findings))}\n` : doctorText(findings, { inColor, columns }),
  )
  return Array.isArray(loaded) ? WRONG_CONFIGURATION : EXIT_CODES[gravest(findings)]
}

/** Without a configuration there is nothing else to examine. */
function loadOrFindings(context: CommandContext, options: DoctorOptions): LoadedConfig | DoctorFinding[] {
  try {
    return configOf(context, options)
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    return error.message.split('\n').map((reason) => ({
      check: 'configuration',
      ...fault('settings', 'configuration_invalid', { reason }),
    }))
  }
}
