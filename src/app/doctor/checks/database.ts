import { databaseLocation } from '../../../config/address-types.ts'
import { AppError, errorMessage } from '../../../kernel/errors.ts'
import { MINUTE } from '../../../kernel/time.ts'
import type { SchemaStatus } from '../../../store/migrate.ts'
import { quickCheck } from '../../../store/quick-check.ts'
import { explainDatabaseFailure } from '../../database.ts'
import { LOST_DATABASE_REMEDY, loneKeyNotice, lostDatabaseRemains } from '../../lost-database.ts'
import { fault, fine, skipped, warning, type Check, type DoctorParts, type CheckFinding } from '../check.ts'

const INTEGRITY_MS = MINUTE

/** What a commit needs to survive a power failure; the key is the name of the engine's setting. */
const EXPECTED: Readonly<Record<string, (value: string) => boolean>> = {
  journal_mode: (value) => value === 'wal',
  fsync: (value) => value === 'on',
  full_page_writes: (value) => value === 'on',
  synchronous_commit: (value) => value !== 'off' && value !== 'local',
  server_encoding: (value) => value === 'UTF8',
}

/** Whether the database can be used, is undamaged, has the schema of this release, and commits durably. */
export const databaseCheck: Check = {
  name: 'database',
  run: async (parts) => {
    const name = databaseLocation.format(parts.loaded.config.database)
    try {
      const facts = await parts.database()
      if (!facts) return [missing(name, parts)]
      return [
        await integrity(name, parts),
        schemaFinding(facts.schema),
        // The first start sets them.
        ...(facts.schema.applied.length > 0 ? settingFindings(facts.settings) : []),
      ]
    } catch (error) {
      return [unusable(name, parts, error)]
    }
  },
}

function missing(name: string, { loaded: { config } }: DoctorParts): CheckFinding {
  const remains = lostDatabaseRemains(config)
  if (remains.length > 0) return fault(name, `is gone, but not ${remains.join(', ')}`, LOST_DATABASE_REMEDY)
  if (loneKeyNotice(config) !== undefined)
    return warning(name, 'does not exist, but jwt-secret does', `if there was one: ${LOST_DATABASE_REMEDY}`)
  return skipped(name, 'does not exist yet: `platform serve` creates it')
}

function unusable(name: string, { loaded }: DoctorParts, error: unknown): CheckFinding {
  if (error instanceof AppError && error.code === 'schema_too_new')
    return fault(name, error.message, 'install that release, or restore the backup from before the upgrade')
  const cause = error instanceof AppError ? (error.cause ?? error) : error
  const { reason, remedy } = explainDatabaseFailure(loaded.config.database, cause)
  return fault(name, reason, remedy)
}

async function integrity(name: string, { loaded }: DoctorParts): Promise<CheckFinding> {
  const limit = AbortSignal.timeout(INTEGRITY_MS)
  try {
    return fine(name, await quickCheck(loaded.config.database, limit))
  } catch (error) {
    if (limit.aborted) return skipped(name, 'the integrity check takes longer than a minute')
    return fault(name, errorMessage(error), 'stop the platform, and restore the last backup')
  }
}

function schemaFinding({ applied, pending, unknown }: SchemaStatus): CheckFinding {
  const newest = applied.at(-1)?.name ?? 'none'
  if (pending.length > 0)
    return warning(
      'schema',
      `${newest}; pending: ${pending.join(', ')}`,
      'restart, or run: platform db migrate',
    )
  if (unknown.length === 0) return fine('schema', newest)
  const names = unknown.map(({ name }) => name).join(', ')
  return warning('schema', `a newer release has added ${names}`, 'upgrade this program')
}

function settingFindings(settings: Readonly<Record<string, string>>): CheckFinding[] {
  return Object.entries(settings).map(([key, value]) => settingFinding(key, value))
}

function settingFinding(key: string, value: string): CheckFinding {
  if (EXPECTED[key]?.(value) ?? true) return fine(key, value)
  return fault(key, `is ${value}`, 'change it: acknowledged changes can be lost, or text damaged')
}
