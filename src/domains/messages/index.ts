export { messagePruneJob } from './jobs.ts'
export type { DomainEvent, Message, MessageStatus, NewMessage } from './model.ts'
export { messageRoutes } from './routes.ts'
export {
  createMessageService,
  type Delivery,
  type MessageAlert,
  type MessageDeps,
  type Messages,
  type Settlement,
} from './service.ts'
