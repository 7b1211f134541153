import type { TSchema } from 'typebox'
import type { BuiltInCommand } from '../kernel/command.ts'
import type { AlertTable } from '../kernel/alerts.ts'
import type { Role } from '../kernel/identity.ts'
import type { Job } from '../kernel/job.ts'
import type { ErrorCodes } from './error-codes.ts'
import type { Route } from './route.ts'

/**
 * The declaration of a domain, as data. The bus stream, the generated reference and the access tests read it. The domain's
 * `create` creates the routes, jobs and runners.
 */
export interface Domain {
  /** Its folder; the source of its events is `/platform/<name>`. */
  readonly name: string
  /** The tables that it owns. */
  readonly tables: readonly string[]
  /** The subject of each event, by what has happened. A subject that ends in `.*` has a variable last part. */
  readonly events: Readonly<Record<string, string>>
  /** What the data of its events are, by their subjects: exact, or a prefix that ends in `*`; the first that matches. */
  readonly eventSchemas?: Readonly<Record<string, TSchema>>
  /** The roles that may read its events on the live stream. Left out where there are no events. */
  readonly eventReaders?: readonly Role[]
  /** The subjects that other roles may follow, because their objects have a list of their own. */
  readonly eventReadersOf?: Readonly<Record<string, readonly Role[]>>
  /** Error codes of its own. */
  readonly errors: ErrorCodes
  /** The alerts that it raises. */
  readonly alerts?: AlertTable
}

/** An event in the document of the API. */
export interface EventType {
  /** Ends in `.*` if its last part is variable. */
  readonly subject: string
  readonly source: string
  /** The schema of `data`. */
  readonly schema: TSchema
}

/** What the document of the API has besides its operations. */
export interface DocumentFacts {
  /** Every code of an error body. */
  readonly errors: ErrorCodes
  readonly events: readonly EventType[]
}

/** What a domain contributes to a process. */
export interface DomainParts {
  /** Its operations, for other domains and for the program. */
  readonly service: object
  readonly routes: readonly Route[]
  /** The jobs, by the module that runs them. */
  readonly jobs: Readonly<Partial<Record<'api' | 'gateway' | 'worker', readonly Job[]>>>
  /** By the modules that run them from their start to their stop; a process starts each once. */
  readonly runners?: Readonly<Partial<Record<'api' | 'worker', readonly ModuleRunner[]>>>
  /** The built-in commands that it offers. */
  readonly builtInCommands?: readonly BuiltInCommand[]
}

/** Work that continues for as long as its module runs. */
export interface ModuleRunner {
  /** May be called twice. */
  start(): void
  /** Resolves when nothing of it runs; may be called twice. */
  stop(): Promise<void>
}

/** Declares a domain; the result keeps the members that {@link Domain} does not have. */
export function defineDomain<const D extends Domain>(domain: D): D {
  return domain
}
