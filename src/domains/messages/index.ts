import type { EventLog, MessageLogReader } from '../../ports/event-log.ts'
import { defineDomain, type DomainParts } from '../../wire/domain.ts'
import type { EventSubjects } from '../../kernel/event-subjects.ts'
import { MESSAGE_ALERTS } from './alerts.ts'
import { redriveDeadCommand } from './commands.ts'
import { MessageLog } from './event-log.ts'
import { messagePruneJob } from './jobs.ts'
import { MESSAGE_ERRORS, messageRoutes } from './routes.ts'
import { Messages, type MessageDeps } from './service.ts'
import { names } from './tables.ts'

export type { Message, MessageStatus, NewMessage } from './model.ts'
export { Messages, type EncodeEvent, type MessageDeps } from './service.ts'
export { continueNumbers } from './store.ts'

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
      messages,
      log: new MessageLog(deps.store.read),
      routes: messageRoutes(messages, subjects),
      jobs: { worker: [messagePruneJob(messages, deps.clock, keepMs)] },
      builtInCommands: [redriveDeadCommand(messages)],
    } satisfies DomainParts & { messages: Messages; log: EventLog & MessageLogReader }
  },
})
