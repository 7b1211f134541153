/** Server-sent events (WHATWG HTML, section 9.2). */
export const EVENT_STREAM = 'text/event-stream'

export interface ServerSentEvent {
  readonly id: string
  readonly event: string
  /** In one line: JSON. */
  readonly data: string
}

export function encodeServerSentEvent({ id, event, data }: ServerSentEvent): string {
  return `id: ${id}\nevent: ${event}\ndata: ${data}\n\n`
}

/** Keeps the connection open. With an id the client resumes from there, although it has seen no event. */
export function encodeComment(id?: string): string {
  return id === undefined ? ':\n\n' : `:\nid: ${id}\n\n`
}
