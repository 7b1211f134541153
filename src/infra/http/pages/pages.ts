import { readdirSync, readFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { getAsset, getAssetKeys, isSea } from 'node:sea'
import { fileURLToPath } from 'node:url'
import { Type } from 'typebox'
import { AppError } from '../../../kernel/errors.ts'
import { ConstantContent } from '../../../wire/constant-content.ts'
import { type Answer, ok, type Route, type RouteRequest, routeOf } from '../../../wire/route.ts'
import type { DocumentFacts } from '../../../wire/domain.ts'
import { JSON_TYPE } from '../response.ts'
import { createOpenApiDocument } from './openapi.ts'
import { escapeHtml } from '../../../kernel/text.ts'
import { ERRORS_PATH, type ErrorCodes } from '../../../wire/error-codes.ts'
import { htmlPage } from '../../../wire/html-page.ts'

const route = routeOf('Pages')

/** Where `scripts/build-console.ts` writes the pages; a release has them beside the program, or inside it. */
const PAGES = fileURLToPath(
  new URL(import.meta.url.endsWith('.ts') ? '../../../../dist/console/' : './console/', import.meta.url),
)

/** The page loads from and calls this server only, and no other page may contain it. */
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

/** Where the assets of a single executable have the pages. */
const EMBEDDED_PAGES = 'console'

interface Build {
  readonly page: ConstantContent
  /** By file name; nothing else is served. */
  readonly assets: ReadonlyMap<string, ConstantContent>
}

/** What was built, as text. */
interface BuiltText {
  readonly page: string
  readonly assets: ReadonlyMap<string, string>
}

interface BuiltPageOptions {
  readonly directory?: string | undefined
  /** What the scripts of the page read about the server: names and contents of `meta` elements. No secrets. */
  readonly facts?: Readonly<Record<string, string>>
}

/** A page for the browser that `scripts/build-console.ts` has built, and its assets. */
export class BuiltPage {
  readonly #name: string
  readonly #directory: string | undefined
  readonly #facts: string
  #build: Build | undefined

  /** `name` is the directory of the page in `console/pages`; a single executable contains its pages. */
  constructor(
    name: string,
    { directory = isSea() ? undefined : join(PAGES, name), facts = {} }: BuiltPageOptions = {},
  ) {
    this.#name = name
    this.#directory = directory
    this.#facts = Object.entries(facts)
      .map(([fact, content]) => `<meta name="${fact}" content="${content}" />`)
      .join('')
  }

  /** 503 if the page is not built. */
  page(): Answer {
    const build = this.#read()
    if (!build) return notBuilt(this.#name)
    return ok(build.page, {
      'content-security-policy': PAGE_POLICY,
      // The names of the assets change with their content, the name of the page does not.
      'cache-control': 'no-cache',
    })
  }

  /** Rejects with `route_not_found`. */
  asset(name: string): Answer {
    const asset = this.#read()?.assets.get(name)
    if (asset === undefined) {
      throw new AppError('not_found', 'route_not_found', 'The page has no such file; reload the page.')
    }
    return ok(asset, { 'cache-control': 'public, max-age=31536000, immutable' })
  }

  /** Reads the files once: page and assets stay those of one build while another one is written. */
  #read(): Build | undefined {
    if (this.#build) return this.#build
    const text = this.#directory === undefined ? embeddedBuild(this.#name) : readBuild(this.#directory)
    this.#build = text && prepare(text, this.#facts)
    return this.#build
  }
}

function prepare({ page, assets }: BuiltText, facts: string): Build {
  const served = [...assets].flatMap(([name, text]): [string, ConstantContent][] => {
    const type = CONTENT_TYPES[extname(name)]
    return type === undefined ? [] : [[name, new ConstantContent(text, type)]]
  })
  return {
    page: new ConstantContent(page.replace('</head>', `${facts}</head>`), 'text/html; charset=utf-8'),
    assets: new Map(served),
  }
}

function readBuild(directory: string): BuiltText | undefined {
  try {
    const page = readFileSync(join(directory, 'index.html'), 'utf8')
    const assets = join(directory, 'assets')
    const files = readdirSync(assets).map((name) => [name, readFileSync(join(assets, name), 'utf8')] as const)
    return { page, assets: new Map(files) }
  } catch {
    // Missing, or being replaced: the next request reads again.
    return undefined
  }
}

function embeddedBuild(name: string): BuiltText {
  const assets = `${EMBEDDED_PAGES}/${name}/assets/`
  const keys = getAssetKeys().filter((key) => key.startsWith(assets))
  return {
    page: getAsset(`${EMBEDDED_PAGES}/${name}/index.html`, 'utf8'),
    assets: new Map(keys.map((key) => [key.slice(assets.length), getAsset(key, 'utf8')])),
  }
}

function notBuilt(name: string): Answer {
  const body =
    `The page "${name}" is not built. In the checkout of the platform run \`node scripts/build-console.ts\` ` +
    '(`npm start` does it too), then reload this page.\n'
  return { status: 503, body, headers: { 'content-type': 'text/plain; charset=utf-8' } }
}

const FileParams = Type.Object({ file: Type.String({ maxLength: 255 }) })

/** A page for the browser. It is no operation of the API, so the OpenAPI document does not describe it. */
function publicPage(
  path: string,
  read: (request: Pick<RouteRequest<unknown, unknown, unknown>, 'headers'>) => Answer,
): Route {
  return route({ ...PAGE, path, read })
}

/** The files below the path, by their names. */
function publicFiles(path: string, read: (file: string) => Answer): Route {
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
  summary: 'A page for the browser',
  access: 'public',
  // The script of the page reads it.
  query: Type.Object({}),
  answers: {},
} as const

interface ConsoleOptions {
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

/** The catalogue of the codes of errors, each at its anchor: error bodies lead there by their `Link`. */
export function errorsPage(errors: ErrorCodes): Route {
  return publicPage(ERRORS_PATH, () => htmlPage(200, 'Errors', contentOf(errors)))
}

function contentOf(errors: ErrorCodes): string {
  const entries = Object.entries(errors)
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(
      ([code, { status, meaning }]) =>
        `<dt id="${code}"><a href="#${code}"><code>${code}</code></a> ${status}</dt><dd>${withCode(meaning)}</dd>`,
    )
  return `<h1>Errors</h1>
<p>Every <code>code</code> of an error, with its HTTP status. Codes are for programs and stay as they are; the message of
an answer is for people.</p>
<dl>
${entries.join('\n')}
</dl>`
}

function withCode(text: string): string {
  return escapeHtml(text).replaceAll(/`([^`]*)`/g, '<code>$1</code>')
}

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
