import { Type } from 'typebox'
import { route, type Route } from '../../wire/route.ts'
import { BuiltPage } from '../http/built-page.ts'

/**
 * The picture of the tunnels for the browser, at `/tunnels`, and its assets below it. Public, because they
 * contain no data; the page requests `/tunnels/state` with the token of its user.
 */
export function tunnelsPageRoutes(directory?: string): Route[] {
  const tunnels = new BuiltPage('tunnels', { directory })
  return [
    route({
      method: 'GET',
      path: '/tunnels',
      operation: 'getTunnelsPage',
      tag: 'Gateway',
      summary: 'The live tunnels as a picture in the browser',
      description: 'A page with a sign-in form; it shows what `GET /tunnels/state` answers.',
      access: 'public',
      answers: {
        200: { description: 'The page.', schema: Type.String(), contentType: 'text/html' },
        503: { description: 'The page is not built.', schema: Type.String(), contentType: 'text/plain' },
      },
      read: () => tunnels.page(),
    }),
    route({
      method: 'GET',
      path: '/tunnels/assets/:file',
      operation: 'getTunnelsAsset',
      tag: 'Gateway',
      summary: 'A script, style sheet or picture of the page',
      access: 'public',
      params: Type.Object({ file: Type.String({ maxLength: 255 }) }),
      answers: { 200: { description: 'The file.', schema: Type.String(), contentType: 'text/javascript' } },
      read: ({ params, headers }) => tunnels.asset(params.file, headers['accept-encoding']),
    }),
  ]
}
