import { toRfc3339 } from '../../../kernel/time.ts'
import { fault, fine, skipped, warning, type Check, type CheckFinding } from '../check.ts'

// docs/guide/operating.md: clocks within a second; docs/specification.md, Identity: tokens may come from 5 s ahead.
const WARNING_MS = 1_000
const ERROR_MS = 5_000
const REMEDY = 'synchronize the clocks of all hosts (NTP)'

/** Compares this host's clock with every other one that the platform depends on. */
export const clockCheck: Check = {
  name: 'clock',
  run: async ({ clock, database, bus }) => {
    const now = clock.now()
    const facts = await database().catch(() => undefined)
    const jetStream = (await bus().catch(() => undefined))?.jetStream
    return [
      compareWithHistory(now, facts?.schema.applied.at(-1)?.appliedAt),
      compare('database', clock.now(), facts?.clockMs),
      compare('bus', clock.now(), jetStream?.clockMs),
    ]
  },
}

/** A host that has lost its clock starts in the past. */
function compareWithHistory(now: number, newest: number | undefined): CheckFinding {
  if (newest === undefined || now >= newest) return fine('host', toRfc3339(now))
  const detail = `${toRfc3339(now)} is before the last migration, ${toRfc3339(newest)}`
  return fault('host', detail, 'set the clock; then restart the platform')
}

function compare(subject: string, now: number, other: number | undefined): CheckFinding {
  if (other === undefined) return skipped(subject, 'has no clock that can be asked')
  const difference = Math.round(now - other)
  const detail = `${Math.abs(difference)} ms ${difference < 0 ? 'ahead of' : 'behind'} this host`
  if (Math.abs(difference) >= ERROR_MS) return fault(subject, detail, REMEDY)
  return Math.abs(difference) >= WARNING_MS ? warning(subject, detail, REMEDY) : fine(subject, detail)
}
