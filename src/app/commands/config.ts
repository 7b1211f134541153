import { describeConfig } from '../../config/describe.ts'
import { configOf, type CommandContext, type ConfigOptions } from './context.ts'

/** `platform config`: the effective configuration, each value with where it came from. */
export function showConfig(context: CommandContext, options: ConfigOptions): void {
  context.stdout.write(describeConfig(configOf(context, options)))
}
