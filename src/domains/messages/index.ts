import type { Clock } from '../../kernel/clock.ts'
import { builtInCommand, type BuiltInCommand } from '../../kernel/command.ts'
import { formatCount } from '../../kernel/text.ts'
import type { EventSubjects } from '../../kernel/events.ts'
import { batchJob, type Job } from '../../kernel/job.ts'
import { HOUR } from '../../kernel/time.ts'
import type { EventLog, MessageLogReader } from '../../ports/events.ts'
import { defineDomain, type DomainParts } from '../../wire/domain.ts'
import { MESSAGE_ALERTS } from './model.ts'
import { MessageLog } from './event-log.ts'
import { MESSAGE_ERRORS, messageRoutes } from './routes.ts'
import { Messages, type MessageDeps } from './service.ts'
import { names } from './tables.ts'

export type { Message, MessageStatus, NewMessage } from './model.ts'
export { Messages, type EncodeEvent, type MessageDeps } from './service.ts'
export { continueNumbers, type OldestPending } from './store.ts'
export { replayCommand } from './model.ts'

/** What the whole domain needs of the rest of the platform. */
export interface MessagesDomainDeps extends MessageDeps {
  readonly subjects: EventSubjects
  /** How long delivered messages are kept, in milliseconds. */
  readonly keepMs: number
}

/** Messages of users, and the outbox of every domain's events (docs/specification.md, Events). */
export const messagesDomain = defineDomain({
  name: 'messages',
  tables: names,
  events: {},
  errors: MESSAGE_ERRORS,
  alerts: MESSAGE_ALERTS,
  create: ({ subjects, keepMs, ...deps }: MessagesDomainDeps) => {
    const messages = new Messages(deps)
    return {
      service: messages,
      log: new MessageLog(deps.store.read),
      routes: messageRoutes(messages, subjects),
      jobs: { worker: [messagePruneJob(messages, deps.clock, keepMs)] },
      builtInCommands: [redriveDeadCommand(messages)],
    } satisfies DomainParts & { log: EventLog & MessageLogReader }
  },
})

/** Sends the dead messages again, each one once. */
function redriveDeadCommand(messages: Pick<Messages, 'redriveDead'>): BuiltInCommand {
  return builtInCommand({
    id: 'messages.redrive-dead',
    title: 'Redrive dead messages',
    description: 'Makes every dead message pending again. Remove the cause first, or they become dead again.',
    async run({ signal, print }) {
      print(`Redrove ${formatCount(await messages.redriveDead(signal), 'message')}.`)
    },
  })
}

// Small batches let other writes run in between.
const BATCH = 500

/** Removes delivered messages that are older than `keepMs`. */
export function messagePruneJob(messages: Pick<Messages, 'prune'>, clock: Clock, keepMs: number): Job {
  const pruneBatch = () => messages.prune(clock.now() - keepMs, BATCH)
  return batchJob('message-prune', HOUR, async () => (await pruneBatch()) > 0)
}
