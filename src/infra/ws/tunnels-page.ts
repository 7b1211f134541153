import type { Route } from '../../wire/route.ts'
import { BuiltPage, publicFiles, publicPage } from '../http/pages/built-page.ts'

/**
 * The picture of the tunnels for the browser, at `/tunnels`, and its assets below it. Public, because they
 * contain no data; the page requests `/tunnels/state` with the token of its user.
 */
export function tunnelsPageRoutes(directory?: string): Route[] {
  const page = new BuiltPage('tunnels', { directory })
  return [
    publicPage('/tunnels', () => page.page()),
    publicFiles('/tunnels/assets', (file) => page.asset(file)),
  ]
}
