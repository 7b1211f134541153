import { readdirSync, readFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Type } from 'typebox'
import { AppError } from '../../kernel/errors.ts'
import { ok, route, type Answer, type Route } from '../../wire/route.ts'

/** Where `scripts/build-console.ts` puts the page; in a release it lies beside the program. */
const TUNNELS_BUILD = fileURLToPath(
  new URL(
    import.meta.url.endsWith('.ts') ? '../../../dist/console/tunnels' : './console/tunnels',
    import.meta.url,
  ),
)

/** The page loads and calls this server only, and no other page may embed it. */
const PAGE_POLICY = [
  "default-src 'none'",
  "base-uri 'none'",
  "connect-src 'self'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "img-src 'self'",
  "script-src 'self'",
  "style-src 'self'",
].join('; ')

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
}

const NOT_BUILT =
  'The page of the tunnels is not built. Run `node scripts/build-console.ts` in the checkout of the platform ' +
  '(`npm start` does so by itself), then reload this page.\n'

interface Build {
  readonly page: string
  /** Name → content; nothing else is served. */
  readonly assets: ReadonlyMap<string, string>
}

/**
 * The picture of the tunnels for the browser, at `/tunnels`, and its assets below it. Public, because they
 * contain no data; the page requests `/tunnels/state` with the token of its user.
 */
export function tunnelsPageRoutes(directory = TUNNELS_BUILD): Route[] {
  let build: Build | undefined
  // Read once: page and assets have to be of the same build, also when another one is made meanwhile.
  const readBuilt = () => (build ??= readBuild(directory))
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
      read: () => pageAnswer(readBuilt()),
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
      read: ({ params }) => assetAnswer(params.file, readBuilt()?.assets.get(params.file)),
    }),
  ]
}

function readBuild(directory: string): Build | undefined {
  try {
    const page = readFileSync(join(directory, 'index.html'), 'utf8')
    const assets = join(directory, 'assets')
    const files = readdirSync(assets).map((name) => [name, readFileSync(join(assets, name), 'utf8')] as const)
    return { page, assets: new Map(files) }
  } catch {
    // Missing, or being replaced at the moment: the next request tries again.
    return undefined
  }
}

function pageAnswer(build: Build | undefined): Answer {
  if (!build)
    return { status: 503, body: NOT_BUILT, headers: { 'content-type': 'text/plain; charset=utf-8' } }
  return ok(build.page, {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': PAGE_POLICY,
    // The names of the assets change with their content, the name of the page does not.
    'cache-control': 'no-cache',
  })
}

function assetAnswer(name: string, content: string | undefined): Answer {
  const type = CONTENT_TYPES[extname(name)]
  if (content === undefined || type === undefined) {
    throw new AppError('not_found', 'route_not_found', 'The page has no such file; reload it.')
  }
  return ok(content, { 'content-type': type, 'cache-control': 'public, max-age=31536000, immutable' })
}
