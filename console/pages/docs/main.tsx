import { render } from 'preact'
import { operationsOf, type OpenApiDocument } from './document.ts'
import { DocsPage, Failure } from './page.tsx'

const root = document.getElementById('page')
if (!root) throw new Error('The document has no element with the id "page".')

try {
  const response = await fetch('/openapi.json')
  if (!response.ok) throw new Error(`the server answered with status ${response.status}`)
  const api = (await response.json()) as OpenApiDocument
  render(<DocsPage api={api} operations={operationsOf(api)} />, root)
  // The operations did not exist when the browser looked for the fragment.
  document.getElementById(location.hash.slice(1))?.scrollIntoView()
} catch (error) {
  render(<Failure reason={error instanceof Error ? error.message : String(error)} />, root)
}
