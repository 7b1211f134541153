import type { Route } from '../../wire/route.ts'
import { BuiltPage } from './built-page.ts'
import { publicFiles, publicPage } from './public-page.ts'

export interface ConsoleOptions {
  /** Whether people may sign in with an OpenID provider. */
  readonly hasProvider: boolean
}

/**
 * The console at `/console/`. Its scripts choose the view by the path, so every path below has the same document; only its
 * assets are files.
 */
export function consoleRoutes({ hasProvider }: ConsoleOptions): Route[] {
  const page = new BuiltPage('console', { facts: { 'sign-in-provider': String(hasProvider) } })
  return [
    publicPage('/console', () => ({ status: 302, headers: { location: '/console/' } })),
    publicPage('/console/*', () => page.page()),
    publicFiles('/console/assets', (file) => page.asset(file)),
  ]
}
