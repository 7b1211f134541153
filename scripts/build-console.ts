// Builds the pages for the browser into dist/console, one directory each. Set-up runs it when a source has changed.
import { chmodSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { build, type HtmlTagDescriptor, type InlineConfig, type Rolldown } from 'vite'
import { consoleDirectory, fingerprint, STAMP } from './console-build.mjs'
import { pageWeight, WEIGHT_LIMIT, type BuiltFile } from './page-weight.ts'
import { root } from './runtime.mjs'

/** Each page, and the path under which a server serves it. */
export const PAGES = [
  { name: 'tunnels', base: '/tunnels/' },
  { name: 'docs', base: '/docs/' },
  { name: 'console', base: '/console/' },
] as const

/** The beginning of the head of every page. The files are relative to the page. */
const HEAD: readonly HtmlTagDescriptor[] = [
  { tag: 'meta', attrs: { charset: 'utf-8' } },
  { tag: 'meta', attrs: { name: 'viewport', content: 'width=device-width, initial-scale=1' } },
  { tag: 'meta', attrs: { name: 'color-scheme', content: 'light dark' } },
  { tag: 'link', attrs: { rel: 'icon', type: 'image/svg+xml', href: '../../styles/icon.svg' } },
  { tag: 'link', attrs: { rel: 'stylesheet', href: '../../styles/tokens.css' } },
  { tag: 'link', attrs: { rel: 'stylesheet', href: '../../styles/base.css' } },
]

/** What every browser of the last two years runs. */
const TARGET = 'es2023'

/** What is loaded together, first the sign-in. Otherwise each module that several views use would be a file of its own. */
const GROUPS: readonly Rolldown.CodeSplittingGroup[] = [
  { name: 'start', tags: ['$initial'], priority: 3 },
  {
    name: 'signed-in',
    test: /console[/](signed-in[.]tsx|sources[.]ts)$|parts[/](page-head[.]tsx|report-failure[.]ts|status-badge[.]tsx|resource[/]resource-view[.]tsx)$/,
    priority: 2,
  },
  { name: 'list', test: /parts[/]list[/]list-view[.]tsx$/, priority: 1 },
]

/** What the build of a page and its development server have in common. */
export function pageConfig({ name, base }: (typeof PAGES)[number]): InlineConfig {
  return {
    root: join(root, 'console/pages', name),
    base,
    configFile: false,
    logLevel: 'warn',
    // Before Vite looks for the files of the page.
    plugins: [
      { name: 'page-head', transformIndexHtml: { order: 'pre', handler: () => [...HEAD] } },
      {
        name: 'preloaded-parts',
        transformIndexHtml: { order: 'post', handler: (_, { bundle = {} }) => preloads(base, bundle) },
      },
    ],
    oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  }
}

/** Parts that the entry loads at once in any case: the browser learns of them from the document. */
const PRELOADED = /[/]signed-in-/

function preloads(base: string, bundle: Readonly<Record<string, object>>): HtmlTagDescriptor[] {
  const files = Object.keys(bundle).filter((file) => PRELOADED.test(file) && file.endsWith('.js'))
  return files.map((file) => ({
    tag: 'link',
    attrs: { rel: 'modulepreload', href: `${base}${file}` },
    injectTo: 'head',
  }))
}

async function buildPages(directory: string): Promise<void> {
  for (const page of PAGES) {
    const built = await build({
      ...pageConfig(page),
      build: {
        outDir: join(directory, page.name),
        target: TARGET,
        // The pages' policy allows neither data: addresses nor inline scripts.
        assetsInlineLimit: 0,
        // What a part imports is loaded beside it. Every browser of the last two years knows how; the script for older ones is left out.
        modulePreload: { polyfill: false },
        emptyOutDir: true,
        rolldownOptions: { output: { codeSplitting: { groups: [...GROUPS] } } },
      },
    })
    requireLight(page.name, built)
  }
}

/** Throws an error if a browser would load more than the limit until the page is shown. */
function requireLight(name: string, built: Awaited<ReturnType<typeof build>>): void {
  if (!('output' in built)) throw new Error(`the build of the page "${name}" has no list of files`)
  const bytes = pageWeight(built.output.map(toBuiltFile))
  if (bytes <= WEIGHT_LIMIT) return
  throw new Error(
    `the page "${name}" has ${bytes} bytes compressed, and at most ${WEIGHT_LIMIT} are allowed; load a part of it later`,
  )
}

function toBuiltFile(file: Rolldown.OutputChunk | Rolldown.OutputAsset): BuiltFile {
  const { fileName } = file
  if (file.type === 'asset') {
    return { fileName, content: file.source, isEntry: false, imports: [], dynamicImports: [] }
  }
  const { code: content, isEntry, imports, dynamicImports } = file
  return { fileName, content, isEntry, imports, dynamicImports }
}

/** Replaces the previous build. Between the two renames there is none for a moment. */
function replaceDirectory(fresh: string, target: string): void {
  const old = `${target}.old-${process.pid}`
  try {
    renameSync(target, old)
  } catch {
    // This is the first build.
  }
  renameSync(fresh, target)
  rmSync(old, { recursive: true, force: true })
}

if (import.meta.main) {
  // Taken before the build, so that a source that changes meanwhile makes the next set-up build again.
  const builtFrom = fingerprint()
  const parent = dirname(consoleDirectory)
  mkdirSync(parent, { recursive: true })
  const fresh = mkdtempSync(join(parent, 'console.new-'))
  try {
    await buildPages(fresh)
    writeFileSync(join(fresh, STAMP), builtFrom)
    // A temporary directory is closed to the user that the service runs as.
    chmodSync(fresh, 0o755)
    replaceDirectory(fresh, consoleDirectory)
  } finally {
    rmSync(fresh, { recursive: true, force: true })
  }
}
