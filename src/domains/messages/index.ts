export { messagePruneJob } from './jobs.ts'
export type { DomainEvent, Message, MessageStatus, NewMessage } from './model.ts'
export { messageRoutes } from './routes.ts'
export {
  createMessageService,
  type MessageAlert,
  type MessageDeps,
  type Messages,
} from './service.ts'
