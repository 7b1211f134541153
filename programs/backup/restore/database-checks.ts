import type { DatabaseFinding, RestoredDatabase } from '../../../src/ports/database-files.ts'
import type { PackageManifest } from '../package/manifest.ts'
import type { DrillCheckName } from './drill-report.ts'
import { countText } from './words.ts'

type DatabaseCheck = (database: RestoredDatabase, manifest: PackageManifest) => Promise<DatabaseFinding>

/** The checks of a restored database, in their order. */
export const DATABASE_CHECKS: readonly (readonly [DrillCheckName, DatabaseCheck])[] = [
  ['database-opens', (database) => database.opens()],
  ['integrity', (database) => database.integrity()],
  ['foreign-keys', (database) => database.foreignKeys()],
  ['row-counts', checkRowCounts],
  ['content-hash', checkContents],
]

async function checkRowCounts(
  database: RestoredDatabase,
  { tables }: PackageManifest,
): Promise<DatabaseFinding> {
  const counts = await database.rowCounts()
  const names = new Set([...Object.keys(tables), ...Object.keys(counts)])
  const differences = [...names].flatMap((name) => {
    const [expected, restored] = [tables[name]?.rows, counts[name]]
    return expected === restored
      ? []
      : [`${name} has ${rowsText(restored)}, and ${rowsText(expected)} in the manifest`]
  })
  requireNone(differences)
  const rows = Object.values(counts).reduce((sum, count) => sum + count, 0)
  return { detail: `${countText(names.size, 'table')} with ${countText(rows, 'row')}`, isPossible: true }
}

const rowsText = (rows: number | undefined) => (rows === undefined ? 'no table' : countText(rows, 'row'))

async function checkContents(
  database: RestoredDatabase,
  { tables, schema_version: expected }: PackageManifest,
): Promise<DatabaseFinding> {
  const contents = await database.contents()
  const differences = Object.entries(tables)
    .filter(([name, { hash }]) => contents.tables[name]?.hash !== hash)
    .map(([name]) => `${name} has another content than in the manifest`)
  if (contents.schemaVersion !== expected)
    differences.push(`the schema is ${contents.schemaVersion}, and ${expected} in the manifest`)
  requireNone(differences)
  return { detail: 'every table has the hash of the manifest', isPossible: true }
}

const MOST_NAMED = 3

function requireNone(differences: readonly string[]): void {
  if (differences.length === 0) return
  const more = differences.length - MOST_NAMED
  const named = differences.slice(0, MOST_NAMED).join('; ')
  throw new Error(more > 0 ? `${named}; and ${more} more` : named)
}
