import { Type } from 'typebox'
import { route, type Answer, type Route, type RouteRequest } from '../../wire/route.ts'

const FileParams = Type.Object({ file: Type.String({ maxLength: 255 }) })

/** A page for the browser. It is no operation of the API, so the OpenAPI document does not describe it. */
export function publicPage(
  path: string,
  read: (request: Pick<RouteRequest<unknown, unknown, unknown>, 'headers'>) => Answer,
): Route {
  return route({ ...PAGE, path, read })
}

/** The files below the path, by their names. */
export function publicFiles(path: string, read: (file: string) => Answer): Route {
  return route({
    ...PAGE,
    path: `${path}/:file`,
    params: FileParams,
    read: ({ params }) => read(params.file),
  })
}

const PAGE = {
  method: 'GET',
  operation: 'getPage',
  tag: 'Pages',
  summary: 'A page for the browser',
  access: 'public',
  // The script of the page reads it.
  query: Type.Object({}),
  answers: {},
} as const
