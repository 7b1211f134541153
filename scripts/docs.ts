// Writes docs/reference/ from the program itself; with --check it only tells which of its pages are stale.
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
const FOLDER = 'docs/reference'

/** Each page by its file name. The same program gives the same text, on any day and any machine. */
const PAGES: Readonly<Record<string, (seen: Observations) => string | Promise<string>>> = {
  'configuration.md': configurationPage,
  'operations.md': ({ openApi }) => operationsPage(openApi),
  'openapi.json': ({ openApi }) => `${JSON.stringify(openApi, null, 2)}\n`,
  'errors.md': errorsPage,
  'commands.md': () => commandsPage(ROOT),
  'metrics.md': ({ metrics }) => metricsPage(metrics),
  'events.md': eventsPage,
}

async function makePages(): Promise<Map<string, string>> {
  const seen = await observePlatform()
  const pages = new Map<string, string>()
  for (const [name, make] of Object.entries(PAGES)) pages.set(name, await make(seen))
  return pages
}

function write(pages: ReadonlyMap<string, string>): void {
  mkdirSync(join(ROOT, FOLDER), { recursive: true })
  for (const [name, text] of pages) writeFileSync(join(ROOT, FOLDER, name), text)
}

/** One line for each file that is not what it would be if it were written now. */
function faults(pages: ReadonlyMap<string, string>): string[] {
  const stale = [...pages].filter(([name, text]) => readPage(name) !== text)
  const orphaned = filesInFolder().filter((name) => !pages.has(name))
  return [
    ...stale.map(([name]) => `${FOLDER}/${name} is stale; run: node scripts/docs.ts`),
    ...orphaned.map((name) => `${FOLDER}/${name} is no generated page; remove it`),
  ]
}

function readPage(name: string): string | undefined {
  return filesInFolder().includes(name) ? readFileSync(join(ROOT, FOLDER, name), 'utf8') : undefined
}

function filesInFolder(): string[] {
  try {
    return readdirSync(join(ROOT, FOLDER))
  } catch {
    return []
  }
}

const { values } = parseArgs({ options: { check: { type: 'boolean', default: false } } })
const pages = await makePages()
if (values.check) {
  const found = faults(pages)
  for (const fault of found) console.error(fault)
  if (found.length > 0) process.exitCode = 1
} else {
  write(pages)
}
