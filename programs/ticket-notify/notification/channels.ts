import { SmtpMailer } from '../../../src/infra/mail/smtp-mailer.ts'
import { GroupRobot, isRobotKind } from '../../../src/infra/robots/group-robot.ts'
import { errorMessage } from '../../../src/kernel/errors.ts'
import { SECOND } from '../../../src/kernel/time.ts'
import type { ChannelOutcome, Notification } from '../notification.ts'
import type { ChannelMemory } from './memory.ts'
import type { SecretKey, SecretValues } from './secrets-file.ts'

export interface ChannelResult {
  readonly outcome: ChannelOutcome
  readonly reason?: string | undefined
  /** The recipients that the mail server refused. */
  readonly refused?: readonly string[]
}

export interface Delivery {
  readonly notification: Notification
  readonly secrets: SecretValues
  readonly memory: ChannelMemory
  readonly ignoreThrottle: boolean
  readonly signal: AbortSignal | undefined
}

// With any other text a mail server gets an empty sender, as of a bounce.
const ADDRESS = /^(?:[^\s@<>]+@[^\s@<>]+|[^<>]*<[^\s@<>]+@[^\s@<>]+>)$/
const NO_ADDRESS = 'must have addresses such as shop@example.com'

type Channel = (delivery: Delivery) => Promise<ChannelResult>

export const sendByMail = catchErrors(async ({ notification, secrets, memory, ignoreThrottle, signal }) => {
  const { category, title, text, key } = notification
  const [url, from, to] = [secrets.get('MAIL_SMTP_URL'), secrets.get('MAIL_FROM'), secrets.get('MAIL_TO')]
  if (!url || !from || !to) return notConfigured(secrets, ['MAIL_SMTP_URL', 'MAIL_FROM', 'MAIL_TO'])
  const [sender, receivers] = [from.reveal(), addresses(to.reveal())]
  if (!ADDRESS.test(sender)) return { outcome: 'failed', reason: `MAIL_FROM ${NO_ADDRESS}` }
  if (receivers.length === 0 || !receivers.every((each) => ADDRESS.test(each)))
    return { outcome: 'failed', reason: `MAIL_TO ${NO_ADDRESS}` }
  const throttledMs = ignoreThrottle ? 0 : memory.throttledMs(category)
  if (throttledMs > 0)
    return { outcome: 'skipped', reason: `throttled for ${Math.ceil(throttledMs / SECOND)} s` }
  const mailer = new SmtpMailer({ url, from: sender, to: receivers })
  const result = await mailer.send({ subject: title, text, key }, signal)
  if (result.outcome === 'failed') return result
  if (!ignoreThrottle) memory.noteMail(category)
  const refused = [...result.refused, ...result.deferred].map(({ recipient }) => recipient)
  if (refused.length === 0) return { outcome: 'sent', reason: memory.problem }
  return { outcome: 'sent', reason: `refused for ${refused.join(', ')}`, refused }
})

export const sendByRobot = catchErrors(async ({ notification, secrets, memory, signal }) => {
  const [url, kind] = [secrets.get('ROBOT_URL'), secrets.get('ROBOT_KIND')?.reveal()]
  if (!url || kind === undefined) return notConfigured(secrets, ['ROBOT_URL', 'ROBOT_KIND'])
  // A robot of Telegram needs the number of a chat beside its address.
  if (!isRobotKind(kind) || kind === 'telegram')
    return {
      outcome: 'failed',
      reason: 'ROBOT_KIND must be feishu, dingtalk, wecom, slack, teams or generic',
    }
  const robot = new GroupRobot({
    kind,
    url,
    secret: secrets.get('ROBOT_SECRET'),
    bucketState: memory.bucketState,
    onBucketState: (state) => memory.saveBucketState(state),
  })
  const result = await robot.send(notification, signal)
  return result.outcome === 'failed' ? result : { outcome: 'sent', reason: memory.problem }
})

/** A channel needs all of its keys. */
function notConfigured(secrets: SecretValues, keys: readonly SecretKey[]): ChannelResult {
  const missing = keys.filter((key) => !secrets.has(key))
  const reason =
    missing.length === keys.length ? 'not configured' : `not configured: ${missing.join(', ')} missing`
  return { outcome: 'skipped', reason }
}

function catchErrors(channel: Channel): Channel {
  return async (delivery) => {
    try {
      return await channel(delivery)
    } catch (error) {
      return { outcome: 'failed', reason: errorMessage(error) }
    }
  }
}

function addresses(list: string): string[] {
  return list
    .split(',')
    .map((address) => address.trim())
    .filter((address) => address !== '')
}
