import type { Clock } from '../../kernel/clock.ts'
import type { EventLog } from '../../ports/event-log.ts'
import { defineDomain, type DomainParts } from '../../wire/domain.ts'
import { redriveDeadCommand } from './commands.ts'
import { MessageLog } from './event-log.ts'
import { messagePruneJob } from './jobs.ts'
import { MESSAGE_ERRORS, messageRoutes } from './routes.ts'
import { Messages, type MessageDeps } from './service.ts'
import { names } from './tables.ts'

export type { Message, MessageStatus, NewMessage } from './model.ts'
export { Messages, type EncodeEvent, type MessageDeps } from './service.ts'
export { continueNumbers } from './store.ts'

/** Messages of users, and the outbox of every domain's events (docs/specification.md, Events). */
export const messagesDomain = defineDomain({
  name: 'messages',
  tables: names,
  events: {},
  errors: MESSAGE_ERRORS,
  create: (deps: MessageDeps & { readonly clock: Clock; readonly keepMs: number }) => {
    const messages = new Messages(deps)
    return {
      messages,
      log: new MessageLog(deps.store.read),
      routes: messageRoutes(messages),
      jobs: { worker: [messagePruneJob(messages, deps.clock, deps.keepMs)] },
      builtInCommands: [redriveDeadCommand(messages)],
    } satisfies DomainParts & { messages: Messages; log: EventLog }
  },
})
