// Generates docs/reference/, and the API for clients and for the console, from the program. With --check it writes nothing and reports
// stale files.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { alertsPage } from './docs/alerts.ts'
import { clientApi } from './docs/client-api.ts'
import { commandsPage } from './docs/commands.ts'
import { configurationPage } from './docs/configuration.ts'
import { consoleApi, consoleSummaries } from './docs/console-api.ts'
import { errorsPage } from './docs/errors.ts'
import { eventsPage } from './docs/events.ts'
import { metricsPage } from './docs/metrics.ts'
import type { OpenApiDocument } from './docs/open-api.ts'
import { operationsPage } from './docs/operations.ts'
import { observePlatform, type Observations } from './docs/observe-platform.ts'

const ROOT = join(import.meta.dirname, '..')
const DIRECTORY = 'docs/reference'

/** What programs in TypeScript know of the API. */
const APIS: Readonly<Record<string, (document: OpenApiDocument) => string>> = {
  'clients/typescript/src/generated.ts': clientApi,
  'console/api/generated.ts': consoleApi,
  'console/api/generated-summaries.ts': consoleSummaries,
}

/** The pages by file name. Their text depends on the program only, not on the time or the machine. */
const PAGES: Readonly<Record<string, (observed: Observations) => string | Promise<string>>> = {
  'configuration.md': configurationPage,
  'operations.md': ({ openApi }) => operationsPage(openApi),
  'openapi.json': ({ openApi }) => `${JSON.stringify(openApi, null, 2)}\n`,
  'errors.md': errorsPage,
  'commands.md': () => commandsPage(ROOT),
  'metrics.md': ({ metrics }) => metricsPage(metrics),
  'events.md': eventsPage,
  'alerts.md': alertsPage,
}

/** The generated files by their paths in the repository. */
async function makeFiles(): Promise<Map<string, string>> {
  const observed = await observePlatform()
  const files = new Map<string, string>()
  for (const [path, make] of Object.entries(APIS)) files.set(path, make(observed.openApi))
  for (const [name, make] of Object.entries(PAGES)) files.set(`${DIRECTORY}/${name}`, await make(observed))
  return files
}

function write(files: ReadonlyMap<string, string>): void {
  mkdirSync(join(ROOT, DIRECTORY), { recursive: true })
  for (const [path, text] of files) writeFileSync(join(ROOT, path), text)
}

/** One line for each file that is stale or does not belong into the directory. */
function problemsIn(files: ReadonlyMap<string, string>): string[] {
  const stale = [...files].filter(([path, text]) => readGenerated(path) !== text)
  const orphaned = pagesInDirectory().filter((path) => !files.has(path))
  return [
    ...stale.map(([path]) => `${path} is stale; run: node scripts/docs.ts`),
    ...orphaned.map((path) => `${path} is not generated; remove it`),
  ]
}

function readGenerated(path: string): string | undefined {
  try {
    return readFileSync(join(ROOT, path), 'utf8')
  } catch {
    return undefined
  }
}

function pagesInDirectory(): string[] {
  try {
    return readdirSync(join(ROOT, DIRECTORY)).map((name) => `${DIRECTORY}/${name}`)
  } catch {
    return []
  }
}

const { values } = parseArgs({ options: { check: { type: 'boolean', default: false } } })
const files = await makeFiles()
if (values.check) {
  const problems = problemsIn(files)
  for (const problem of problems) console.error(problem)
  if (problems.length > 0) process.exitCode = 1
} else {
  write(files)
}
