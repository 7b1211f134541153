import { describeConfig } from '../../config/describe.ts'
import { configOf, type CommandContext, type ConfigOptions } from './context.ts'

/** `platform config`: prints the settings in effect, with the source of each value. */
export function showConfig(context: CommandContext, options: ConfigOptions): void {
  context.stdout.write(describeConfig(configOf(context, options)))
}
