import type { OPERATIONS, Operations } from './generated.ts'

export type OperationName = keyof Operations
export type AnswerOf<Name extends OperationName> = Operations[Name]['answer']
export type BodyOf<Name extends OperationName> = Operations[Name]['body']

/** The operations whose answer is a stream of server-sent events. */
export type StreamName = {
  [Name in OperationName]: (typeof OPERATIONS)[Name]['answer'] extends 'events' ? Name : never
}[OperationName]

/** The operations that answer once. */
export type CallName = Exclude<OperationName, StreamName>

export interface AnyPage {
  readonly items: readonly unknown[]
  readonly next_cursor: string | null
}

/** The operations that answer with one page of a list. */
export type ListName = {
  [Name in CallName]: AnswerOf<Name> extends AnyPage ? Name : never
}[CallName]

export type ItemOf<Name extends ListName> =
  AnswerOf<Name> extends { readonly items: readonly (infer Item)[] } ? Item : never

/** The parameters of a query; one that is undefined is not sent. */
export type QueryOf<Name extends OperationName> = {
  readonly [Key in keyof Operations[Name]['query']]?: Operations[Name]['query'][Key] | undefined
}

/** The headers of an operation; one that is undefined is not sent. */
type HeadersOf<Name extends OperationName> = {
  readonly [Key in keyof Operations[Name]['headers']]?: Operations[Name]['headers'][Key] | undefined
}

/** A part of a request, which may be left out where it may be undefined. */
export type RequestPart<Key extends string, Value> = undefined extends Value
  ? { readonly [Each in Key]?: Value }
  : { readonly [Each in Key]: Value }

/** What a call of an operation sends. */
export type RequestOf<Name extends OperationName> = RequestPart<'path', Operations[Name]['path']> &
  RequestPart<'body', BodyOf<Name>> & {
    readonly query?: QueryOf<Name>
    readonly headers?: HeadersOf<Name>
    /** Ends the call, its pauses and its retries. */
    readonly signal?: AbortSignal | undefined
  }

/** The request of an operation, which may be left out where nothing is required. */
export type RequestArguments<Name extends OperationName> =
  Record<never, never> extends RequestOf<Name> ? [request?: RequestOf<Name>] : [request: RequestOf<Name>]
