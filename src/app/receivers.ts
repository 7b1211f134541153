import { createHmac } from 'node:crypto'
import type { Config } from '../config/config.ts'
import { ConfigError } from '../config/config-error.ts'
import { readReceiverSecrets, ROBOT_RECEIVER, type ReceiverConfig } from '../config/receivers.ts'
import type { Receiver } from '../domains/alerts/index.ts'
import { MailChannel } from '../infra/mail/smtp-mailer.ts'
import { RobotWebhook, WebhookChannel } from '../infra/robots/robot-webhook.ts'
import { AppError } from '../kernel/errors.ts'
import type { RotatedKeys } from '../kernel/secret.ts'
import type { NotificationChannel } from '../ports/notification-channel.ts'

/** The configured robot; undefined if there is none. */
export function alertRobot({ alerts: { robot } }: Config): RobotWebhook | undefined {
  const { url, kind, secret, chatId } = robot
  return url && kind ? new RobotWebhook({ url, kind, secret, chatId }) : undefined
}

/** For each receiver, by its name, a hash of its address and settings, which does not reveal them. */
export type ReceiverCodes = Readonly<Record<string, string>>

const CODE_LENGTH = 16

/** Two processes with the same key have the same code for a receiver if both tell it in the same way. Throws as {@link openReceivers}. */
export function receiverCodes(config: Config, [key]: RotatedKeys): ReceiverCodes {
  const code = (parts: readonly unknown[]) =>
    createHmac('sha256', key.reveal())
      .update(JSON.stringify(['receiver', ...parts]))
      .digest('base64url')
      .slice(0, CODE_LENGTH)
  const { url, kind, secret, chatId } = config.alerts.robot
  return {
    ...(url && { [ROBOT_RECEIVER]: code([kind, url.reveal(), secret?.reveal(), chatId]) }),
    ...Object.fromEntries(
      config.receivers.map((receiver) => {
        const { name, kind: by, chatId: chat, from, to } = receiver
        const { url: address, secret: own } = readReceiverSecrets(receiver)
        return [name, code([by, address.reveal(), own?.reveal(), chat, from, to])]
      }),
    ),
  }
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
