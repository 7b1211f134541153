// Generates docs/reference/ from the program. With --check it writes nothing and reports stale pages.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { commandsPage } from './docs/commands.ts'
import { configurationPage } from './docs/configuration.ts'
import { errorsPage } from './docs/errors.ts'
import { eventsPage } from './docs/events.ts'
import { metricsPage } from './docs/metrics.ts'
import { operationsPage } from './docs/operations.ts'
import { observePlatform, type Observations } from './docs/world.ts'

const ROOT = join(import.meta.dirname, '..')
const DIRECTORY = 'docs/reference'

/** The pages by file name. Their text depends on the program only, not on the time or the machine. */
const PAGES: Readonly<Record<string, (observed: Observations) => string | Promise<string>>> = {
  'configuration.md': configurationPage,
  'operations.md': ({ openApi }) => operationsPage(openApi),
  'openapi.json': ({ openApi }) => `${JSON.stringify(openApi, null, 2)}\n`,
  'errors.md': errorsPage,
  'commands.md': () => commandsPage(ROOT),
  'metrics.md': ({ metrics }) => metricsPage(metrics),
  'events.md': eventsPage,
}

async function makePages(): Promise<Map<string, string>> {
  const observed = await observePlatform()
  const pages = new Map<string, string>()
  for (const [name, make] of Object.entries(PAGES)) pages.set(name, await make(observed))
  return pages
}

function write(pages: ReadonlyMap<string, string>): void {
  mkdirSync(join(ROOT, DIRECTORY), { recursive: true })
  for (const [name, text] of pages) writeFileSync(join(ROOT, DIRECTORY, name), text)
}

/** One line for each page that is stale or does not belong into the directory. */
function problemsIn(pages: ReadonlyMap<string, string>): string[] {
  const stale = [...pages].filter(([name, text]) => readPage(name) !== text)
  const orphaned = generatedFiles().filter((name) => !pages.has(name))
  return [
    ...stale.map(([name]) => `${DIRECTORY}/${name} is stale; run: node scripts/docs.ts`),
    ...orphaned.map((name) => `${DIRECTORY}/${name} is not generated; remove it`),
  ]
}

function readPage(name: string): string | undefined {
  return generatedFiles().includes(name) ? readFileSync(join(ROOT, DIRECTORY, name), 'utf8') : undefined
}

function generatedFiles(): string[] {
  try {
    return readdirSync(join(ROOT, DIRECTORY))
  } catch {
    return []
  }
}

const { values } = parseArgs({ options: { check: { type: 'boolean', default: false } } })
const pages = await makePages()
if (values.check) {
  const problems = problemsIn(pages)
  for (const problem of problems) console.error(problem)
  if (problems.length > 0) process.exitCode = 1
} else {
  write(pages)
}
