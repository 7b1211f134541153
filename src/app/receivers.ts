import type { Config } from '../config/config.ts'
import { ConfigError } from '../config/config-error.ts'
import { readReceiverSecrets, ROBOT_RECEIVER, type ReceiverConfig } from '../config/receivers.ts'
import type { Receiver } from '../domains/alerts/index.ts'
import { MailChannel } from '../infra/mail/mail-channel.ts'
import { RobotWebhook } from '../infra/robots/robot-webhook.ts'
import { WebhookChannel } from '../infra/robots/webhook-channel.ts'
import { AppError } from '../kernel/errors.ts'
import type { NotificationChannel } from '../ports/notification-channel.ts'

/** The configured robot; undefined if there is none. */
export function alertRobot({ alerts: { robot } }: Config): RobotWebhook | undefined {
  const { url, kind, secret, chatId } = robot
  return url && kind ? new RobotWebhook({ url, kind, secret, chatId }) : undefined
}

/**
 * The receivers of notifications, the robot first: every process decides who is told, and the worker tells them. Throws a
 * {@link ConfigError} for an address or a secret that cannot be used.
 */
export function openReceivers(config: Config): Receiver[] {
  const robot = alertRobot(config)
  const kind = config.alerts.robot.kind ?? ''
  return [
    ...(robot ? [{ name: ROBOT_RECEIVER, kind, channel: robot }] : []),
    ...config.receivers.map(openReceiver),
  ]
}

function openReceiver(receiver: ReceiverConfig): Receiver {
  const { name, kind, source } = receiver
  const secrets = readReceiverSecrets(receiver)
  try {
    return { name, kind, channel: channelOf(receiver, secrets) }
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    // Its message does not repeat the address.
    throw new ConfigError([
      { source, key: `receivers.${name}`, expected: `a usable address: ${error.message}` },
    ])
  }
}

function channelOf(
  { name, kind, chatId, from = '', to = [] }: ReceiverConfig,
  { url, secret }: ReturnType<typeof readReceiverSecrets>,
): NotificationChannel {
  if (kind === 'mail') return new MailChannel({ url, from, to })
  if (kind === 'webhook') return new WebhookChannel({ name, url, secret })
  return new RobotWebhook({ kind, url, secret, chatId })
}
