import { Type } from 'typebox'
import { JsonText } from '../../kernel/json-text.ts'
import { ok, route, type Answer, type Route } from '../../wire/route.ts'
import { BuiltPage } from './built-page.ts'
import { createOpenApiDocument } from './openapi.ts'

/** The OpenAPI document of `routes` at `/openapi.json`, and a page that shows it at `/docs`, where `/` redirects to. */
export function docsRoutes(routes: readonly Route[], version: string): Route[] {
  const docs = new BuiltPage('docs')
  let document: JsonText | undefined
  // Created by the first call, because most processes are never asked for it.
  const readDocument = () =>
    (document ??= new JsonText(JSON.stringify(createOpenApiDocument(routes, version))))
  return [
    publicPage('/', () => ({ status: 302, headers: { location: '/docs' } })),
    publicPage('/openapi.json', () => ok(readDocument())),
    publicPage('/docs', () => docs.page()),
    publicPage('/docs/', () => docs.page()),
    publicPage('/docs/assets/:file', ({ file }) => docs.asset(file), FileParams),
  ]
}

const FileParams = Type.Object({ file: Type.String({ maxLength: 255 }) })

type Params = { readonly file: string }

/** The pages are no operations of the API, so the document does not describe them. */
function publicPage(path: string, read: (params: Params) => Answer, params?: typeof FileParams): Route {
  return route({
    method: 'GET',
    path,
    operation: 'getPage',
    tag: 'Pages',
    summary: 'A page of the documentation',
    access: 'public',
    ...(params && { params }),
    answers: {},
    read: (request) => read(request.params as Params),
  })
}
