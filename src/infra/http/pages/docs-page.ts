import type { DocumentFacts } from '../../../wire/domain.ts'
import { ConstantContent } from '../../../wire/constant-content.ts'
import { ok, type Route } from '../../../wire/route.ts'
import { JSON_TYPE } from '../add-route.ts'
import { BuiltPage, publicFiles, publicPage } from './built-page.ts'
import { createOpenApiDocument } from './openapi.ts'

/** The OpenAPI document of `routes` at `/openapi.json`, and a page that shows it at `/docs`; `/` leads to what the caller can read. */
export function docsRoutes(routes: readonly Route[], version: string, facts?: DocumentFacts): Route[] {
  const docs = new BuiltPage('docs')
  let document: ConstantContent | undefined
  // Created by the first call, because most processes are never asked for it.
  const readDocument = () =>
    (document ??= new ConstantContent(
      JSON.stringify(createOpenApiDocument(routes, version, facts)),
      JSON_TYPE,
    ))
  return [
    // People begin with the console, programs with the document.
    publicPage('/', ({ headers: { accept = '' } }) => ({
      status: 302,
      headers: { location: accept.includes('text/html') ? '/console/' : '/openapi.json', vary: 'accept' },
    })),
    publicPage('/openapi.json', () => ok(readDocument())),
    publicPage('/docs', () => docs.page()),
    publicPage('/docs/', () => docs.page()),
    publicFiles('/docs/assets', (file) => docs.asset(file)),
  ]
}
