import { sendCall } from './calls.ts'
import type { StreamEvent } from './event-stream.ts'
import { followStream, type FollowOptions, type FollowRequest } from './follow.ts'
import { platformEvents, toFollowRequest, type EventsRequest, type PlatformEvent } from './live-events.ts'
import type {
  AnswerOf,
  CallName,
  ItemOf,
  ListName,
  OperationName,
  RequestArguments,
  RequestOf,
  StreamName,
} from './operations.ts'
import { settingsOf, type ClientOptions } from './options.ts'
import { itemsOf, pagesOf } from './pages.ts'
import { prepareCall, type AnyRequest } from './prepared-call.ts'

/** A successful answer with what its headers say. */
export interface Answer<Value> {
  readonly value: Value
  readonly status: number
  /** The version of the object, for `If-Match`. */
  readonly etag: string | undefined
  readonly requestId: string
  /** Whether the platform had answered the same `Idempotency-Key` before. */
  readonly isReplay: boolean
}

/** Calls operations of the platform by their names in the OpenAPI document. */
export interface Client {
  /** Resolves with the body of the answer. Rejects with a `PlatformError`, or with the reason of the request's signal. */
  call<Name extends CallName>(name: Name, ...request: RequestArguments<Name>): Promise<AnswerOf<Name>>
  /** Like `call`, but resolves with the status and the version, too. */
  send<Name extends CallName>(name: Name, ...request: RequestArguments<Name>): Promise<Answer<AnswerOf<Name>>>
  /** The pages of a list; each is requested when the loop gets there. */
  pages<Name extends ListName>(
    name: Name,
    ...request: RequestArguments<Name>
  ): AsyncGenerator<AnswerOf<Name>, void>
  /** The items of all pages of a list. */
  list<Name extends ListName>(
    name: Name,
    ...request: RequestArguments<Name>
  ): AsyncGenerator<ItemOf<Name>, void>
  /**
   * The live stream of events. It is resumed behind its last event whenever its connection ends, until the loop is left. An
   * error that stays, such as 403, ends the loop.
   */
  events(request?: EventsRequest): AsyncGenerator<PlatformEvent, void>
  /** The events of any operation that answers with a stream, resumed like `events`. */
  follow<Name extends StreamName>(
    name: Name,
    request: RequestOf<Name> & FollowOptions,
  ): AsyncGenerator<StreamEvent, void>
}

export function createClient(options: ClientOptions): Client {
  const settings = settingsOf(options)
  const send = async (name: OperationName, request: AnyRequest = {}) => {
    const call = prepareCall(name, request, settings.headers)
    const { status, headers, value } = await sendCall(call, settings)
    return {
      value,
      status,
      etag: headers.get('etag') ?? undefined,
      requestId: headers.get('x-request-id') ?? call.requestId,
      isReplay: headers.get('idempotent-replay') === 'true',
    }
  }
  const read = async (name: OperationName, request?: AnyRequest) => (await send(name, request)).value
  const client: AnyClient = {
    call: read,
    send,
    pages: (name, request) => pagesOf((each) => read(name, each), request),
    list: (name, request) => itemsOf(pagesOf((each) => read(name, each), request)),
    events: (request = {}) =>
      platformEvents(followStream('streamEvents', toFollowRequest(request), settings)),
    follow: (name, request) => followStream(name, request, settings),
  }
  // The types of requests and answers are generated from the document that the platform keeps to.
  return client as Client
}

/** A client without the types of the operations. */
interface AnyClient extends Pick<Client, 'events'> {
  call(name: OperationName, request?: AnyRequest): Promise<unknown>
  send(name: OperationName, request?: AnyRequest): Promise<Answer<unknown>>
  pages(name: OperationName, request?: AnyRequest): AsyncGenerator<unknown, void>
  list(name: OperationName, request?: AnyRequest): AsyncGenerator<unknown, void>
  follow(name: StreamName, request: FollowRequest): AsyncGenerator<StreamEvent, void>
}
