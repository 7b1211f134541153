import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { AppError } from '../../kernel/errors.ts'
import type { Route } from '../../wire/route.ts'
import type { CountRefusal } from './rate-limit.ts'
import { pathOf } from './request.ts'

/**
 * The methods that a path has; none if there is no such path. A table, because routes that refuse every other method of every
 * path would take a tenth of the start.
 */
export type MethodsAt = (path: string) => readonly string[]

export function methodTable(routes: readonly Route[]): MethodsAt {
  const paths = pathsOf(routes)
  return (target) => {
    const path = decodePath(target)
    const match = paths.find((known) => known.path === path) ?? paths.find((known) => isMatch(known, path))
    return match?.methods ?? []
  }
}

interface KnownPath {
  readonly path: string
  readonly segments: readonly string[]
  readonly methods: readonly string[]
}

function pathsOf(routes: readonly Route[]): KnownPath[] {
  return [...Map.groupBy(routes, ({ path }) => path)].map(([path, known]) => {
    const methods: string[] = known.map(({ method }) => method)
    // The framework answers HEAD wherever there is GET.
    return {
      path,
      segments: path.split('/'),
      methods: methods.includes('GET') ? [...methods, 'HEAD'] : methods,
    }
  })
}

/** The router compares decoded paths; an encoded slash separates no segments. */
function decodePath(path: string): string {
  try {
    return decodeURI(path)
  } catch {
    return path
  }
}

function isMatch({ segments: pattern }: KnownPath, path: string): boolean {
  const segments = path.split('/')
  const isOpen = pattern.at(-1) === '*'
  const fixed = isOpen ? pattern.slice(0, -1) : pattern
  return (
    (isOpen ? segments.length >= pattern.length : segments.length === pattern.length) &&
    fixed.every((part, index) => part === segments[index] || (isParameter(part) && segments[index] !== ''))
  )
}

function isParameter(segment: string | undefined): boolean {
  return segment?.startsWith(':') === true
}

/** Refuses requests that no route matches, before their body is read: 405 if the path has other methods, else 404. */
export function refuseUnmatched(
  app: FastifyInstance,
  countRefusal: CountRefusal,
  allowedAt: MethodsAt,
): void {
  app.addHook('onRequest', (request, reply, done) => {
    if (!request.is404) return done()
    const path = pathOf(request)
    const allowed = allowedAt(path)
    const fault =
      allowed.length > 0
        ? methodNotAllowed(request, reply, allowed)
        : new AppError('not_found', 'route_not_found', `There is no path ${JSON.stringify(path)}.`)
    const refuse = async () => done(await countRefusal(request, fault))
    void refuse()
  })
}

/**
 * Refuses the methods that a fixed path lacks and a pattern that also matches it has: without this, `GET /alerts/report`
 * would read the alert with the id `report`.
 */
export function refuseShadowed(
  app: FastifyInstance,
  routes: readonly Route[],
  countRefusal: CountRefusal,
): void {
  const paths = pathsOf(routes)
  for (const known of paths) {
    const others = paths.filter((other) => other !== known && overlap(other, known))
    const shadowed = new Set(others.flatMap(({ methods }) => methods)).difference(new Set(known.methods))
    // The framework adds HEAD to GET.
    shadowed.delete('HEAD')
    if (shadowed.size === 0) continue
    app.route({
      method: [...shadowed],
      url: known.path,
      onRequest: async (request, reply) => {
        throw await countRefusal(request, methodNotAllowed(request, reply, known.methods))
      },
      handler: () => undefined,
    })
  }
}

/** Whether some path matches both. */
function overlap({ segments: one }: KnownPath, { segments: other }: KnownPath): boolean {
  return (
    one.length === other.length &&
    one.every((part, index) => part === other[index] || isParameter(part) || isParameter(other[index]))
  )
}

export function methodNotAllowed(
  { method }: FastifyRequest,
  reply: FastifyReply,
  allowed: readonly string[],
): AppError {
  reply.header('allow', allowed.join(', '))
  return new AppError('method_not_allowed', 'method_not_allowed', `${method} is not allowed for this path.`)
}
