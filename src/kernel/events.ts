import { AppError } from './errors.ts'
import { hasRole, type Identity, type Role } from './identity.ts'
import { createHash } from 'node:crypto'
import { traceHeaders } from './trace.ts'

/** A subject on which a domain publishes; one that ends in `*` has a variable last part. */
export interface DeclaredSubject {
  readonly subject: string
  /** The roles that may read its events, which are those that may list its objects. */
  readonly readers: readonly Role[]
}

/**
 * Who may read, and who may write, on the subjects of the platform's events (docs/specification.md, Events). Every other
 * subject is of the users: all of them may read it and write on it.
 */
export class EventSubjects {
  readonly #declared: readonly DeclaredSubject[]
  readonly #reserved: ReadonlySet<string>

  constructor(declared: readonly DeclaredSubject[]) {
    this.#declared = declared
    this.#reserved = new Set(declared.map(({ subject }) => firstToken(subject)))
  }

  /** The declared subjects that a caller may not read, sorted. */
  hiddenFrom(identity: Identity): string[] {
    const hidden = this.#declared.filter(({ readers }) => !hasRole(identity, readers))
    return [...new Set(hidden.map(({ subject }) => subject))].sort()
  }

  /** Throws `forbidden` for a subject of the platform whose objects the caller may not list. */
  requireReadable(subject: string, identity: Identity): void {
    requireReaders(this.#declared, (declared) => matchesPattern(declared, subject), identity)
  }

  /** Throws `reserved_subject` for a subject below the first part of one of the platform's. */
  requireOpen(subject: string): void {
    const first = firstToken(subject)
    if (!this.#reserved.has(first) || subject === first) return
    const message = `Subjects that begin with "${first}." are of the platform's own events; publish on another one.`
    throw new AppError('forbidden', 'reserved_subject', message)
  }
}

/** Throws `forbidden` if the caller may not read one of the declared subjects that are meant. */
export function requireReaders(
  declared: readonly DeclaredSubject[],
  isMeant: (subject: string) => boolean,
  identity: Identity,
): void {
  const refused = declared.find(({ subject, readers }) => isMeant(subject) && !hasRole(identity, readers))
  if (!refused) return
  const { subject, readers } = refused
  const message = `The subject ${subject} needs one of the roles ${readers.join(', ')}.`
  throw new AppError('forbidden', 'forbidden', message)
}

/** Whether a subject is the pattern, or begins like one that ends in `*`. */
export function matchesPattern(pattern: string, subject: string): boolean {
  if (!pattern.endsWith('*')) return subject === pattern
  return subject.length >= pattern.length && subject.startsWith(pattern.slice(0, -1))
}

function firstToken(subject: string): string {
  return subject.split('.', 1)[0] ?? ''
}

/** Attributes of a CloudEvents 1.0 event in structured mode (docs/specification.md, Events). */
export interface EventAttributes {
  readonly id: string
  /** `/platform/<domain>` */
  readonly source: string
  readonly type: string
  readonly subject: string
  /** RFC 3339 */
  readonly time: string
}

/** The source of a domain's events. */
export function eventSource(domain: string): string {
  return `/platform/${domain}`
}

/** The headers of every event on the bus. */
export const EVENT_HEADERS = { 'content-type': 'application/cloudevents+json; charset=utf-8' } as const

/**
 * The event as JSON; `data` is JSON text. It has the current trace, or that of a row, in the attributes of the extension
 * "Distributed Tracing".
 */
export function toCloudEvent(
  { id, source, type, subject, time }: EventAttributes,
  data: string,
  trace = traceHeaders(),
): string {
  const attributes = {
    specversion: '1.0',
    id,
    source,
    type,
    subject,
    time,
    datacontenttype: 'application/json',
    ...trace,
  }
  return `${JSON.stringify(attributes).slice(0, -1)}${DATA}${data}}`
}

const DATA = ',"data":'

/** The attributes of an event that {@link toCloudEvent} wrote, without reading its data. */
export function attributesOf(event: string): EventAttributes & Readonly<Record<string, string>> {
  return JSON.parse(`${event.slice(0, event.indexOf(DATA))}}`) as ReturnType<typeof attributesOf>
}

/** The headers of a call that carries such an event: those of its trace. */
export function traceHeadersOfEvent(event: string): Readonly<Record<string, string>> {
  const end = event.indexOf(DATA)
  const at = event.lastIndexOf(TRACEPARENT, end)
  return at === -1 ? {} : (JSON.parse(`{${event.slice(at + 1, end)}}`) as Record<string, string>)
}

// They are the last attributes. A quote inside a value is escaped, so this is never a part of one.
const TRACEPARENT = ',"traceparent":"'

/** What an event is about, as a short text: the same for the same source and subject. */
export function eventThing(source: string, subject = ''): string {
  return createHash('sha256').update(`${source}\0${subject}`).digest('base64url')
}
