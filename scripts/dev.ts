// Runs the platform and the console for a developer: the platform restarts when one of its sources changes, and the
// browser loads the changed page. Arguments go to `platform serve`.
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { createServer, type Plugin } from 'vite'
import { PAGES, pageConfig } from './build-console.ts'
import { root } from './runtime.mjs'

const PORT = 9680
/** Where the platform listens; `API_URL` names another place. */
const API_URL = process.env['API_URL'] ?? 'http://127.0.0.1:9600'

async function serveConsole(): Promise<() => Promise<void>> {
  const [page] = PAGES.filter(({ name }) => name === 'console')
  if (!page) throw new Error('PAGES lacks the console')
  const config = pageConfig(page)
  const server = await createServer({
    ...config,
    plugins: [config.plugins, sharedStyles(page.base)],
    server: {
      port: PORT,
      strictPort: true,
      fs: { allow: [root] },
      // All but the page is the platform's.
      proxy: { [`^/(?!${page.base.slice(1)}|@)`]: { target: API_URL, ws: true } },
    },
  })
  await server.listen()
  console.log(`The console is at http://localhost:${PORT}${page.base}; the platform is at ${API_URL}.`)
  return () => server.close()
}

/** The styles lie above the root of the page, where a relative address of its document does not reach. */
function sharedStyles(base: string): Plugin {
  return {
    name: 'shared-styles',
    configureServer({ middlewares }) {
      middlewares.use((request, _response, next) => {
        if (/^\/(?:styles|parts)\//.test(request.url ?? ''))
          request.url = `${base}@fs${join(root, 'console')}${request.url}`
        next()
      })
    },
  }
}

const closeConsole = await serveConsole()
const platform = spawn(
  process.execPath,
  ['--watch', '--watch-preserve-output', join(root, 'src/main.ts'), 'serve', ...process.argv.slice(2)],
  { stdio: 'inherit' },
)
// Ctrl-C reaches the platform too; the console waits for its orderly end.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => platform.kill(signal))
platform.on('exit', (code) => {
  process.exitCode = code ?? 0
  void closeConsole()
})
