export { createClient, type Answer, type Client } from './client.ts'
export { PlatformError, type FieldFault } from './errors.ts'
export type { StreamEvent } from './event-stream.ts'
export type { FollowOptions } from './follow.ts'
export type { CloudEvent, EventsRequest, PlatformEvent } from './live-events.ts'
export type { Events, Operations, Schemas } from './generated.ts'
export type {
  AnswerOf,
  BodyOf,
  CallName,
  ItemOf,
  ListName,
  OperationName,
  QueryOf,
  RequestOf,
  StreamName,
} from './operations.ts'
export type { ClientOptions, Fetch } from './options.ts'
