import { hostname } from 'node:os'
import { AppError, invalidField } from '../../kernel/errors.ts'
import { newId } from '../../kernel/ids.ts'
import { alertRobot } from '../receivers.ts'
import { configOf, type CommandContext, type ConfigOptions } from './context.ts'

/** `platform alerts test-robot`: sends one message, and prints the answer of the robot. */
export async function testRobot(context: CommandContext, options: ConfigOptions): Promise<void> {
  const robot = alertRobot(configOf(context, options).config)
  if (!robot)
    throw invalidField('alerts.robot.url', 'invalid', {
      reason: 'must be set, with alerts.robot.kind, to send a message to a robot',
    })
  const outcome = await robot.send({
    title: '[INFO] Test of the alert robot',
    text: `The platform on ${hostname()} can send alerts to this group.`,
    level: 'INFO',
    key: newId(),
  })
  if (!outcome.sent)
    throw new AppError('unavailable', 'robot_failed', `The robot did not take the message: ${outcome.reason}`)
  context.stdout.write(`sent; the robot answered: ${outcome.answer}\n`)
}
