import { AppError } from './errors.ts'
import { hasRole, type Identity, type Role } from './identity.ts'

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
