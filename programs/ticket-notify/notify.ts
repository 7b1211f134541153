// The notification module: of the two released files the one with npm packages.
import { processEnvironment, variable } from './env.ts'
import type { NotifyOptions, NotifyResult, Notification } from './notification.ts'
import { sendByMail, sendByRobot } from './notification/channels.ts'
import { ChannelMemory } from './notification/memory.ts'
import { readSecrets } from './notification/secrets-file.ts'
import { defaultStateFile } from './options.ts'
import { memoryFileOf } from './state-store.ts'

const DEFAULT_SECRETS_FILE = '/etc/platform/notify.env'

/** Sends by mail and by robot, at the same time. Never throws. */
export async function notify(notification: Notification, options: NotifyOptions = {}): Promise<NotifyResult> {
  const env = processEnvironment()
  const { ignoreThrottle = false, signal } = options
  const secrets = readSecrets(options.secretsFile ?? variable(env, 'NOTIFY_ENV_FILE') ?? DEFAULT_SECRETS_FILE)
  if ('problem' in secrets) {
    const reason = secrets.problem
    return { mail: 'failed', robot: 'failed', reasons: { mail: reason, robot: reason } }
  }
  const memory = new ChannelMemory(options.memoryFile ?? memoryFileOf(defaultStateFile(env)))
  const delivery = { notification, secrets: secrets.values, memory, ignoreThrottle, signal }
  const [mail, robot] = await Promise.all([sendByMail(delivery), sendByRobot(delivery)])
  return {
    mail: mail.outcome,
    robot: robot.outcome,
    reasons: {
      ...(mail.reason !== undefined && { mail: mail.reason }),
      ...(robot.reason !== undefined && { robot: robot.reason }),
    },
    ...(mail.refused && { refused: mail.refused }),
  }
}
