import { Type } from 'typebox'
import type { Clock } from '../../kernel/clock.ts'
import { MINUTE, toRfc3339 } from '../../kernel/time.ts'
import { ok, type Route, routeOf } from '../../wire/route.ts'
import { CauseOf, Fields, Nullable, OneOf, Timestamp } from '../../wire/schemas.ts'
import { RESULTS } from './check.ts'
import { FINDINGS, type FindingCode } from './findings.ts'
import type { DoctorFinding } from './doctor.ts'
import { doctorReport, type DoctorReport } from './report.ts'

const route = routeOf('Operations')

/** An examination reads the whole database file. */
const KEPT_MS = 5 * MINUTE

const ReportSchema = Fields(
  {
    status: OneOf(['ok', 'warning', 'error'], 'The gravest result.'),
    examined_at: Timestamp,
    findings: Type.Array(
      Fields({
        check: Type.String({ examples: ['database'] }),
        subject: Type.String({ description: 'What was examined: a path, an address, a setting.' }),
        result: OneOf(RESULTS),
        detail: Type.String(),
        remedy: Nullable<string>({ type: 'string', description: 'What to do about a warning or an error.' }),
        cause: CauseOf(Object.keys(FINDINGS) as FindingCode[], 'what `detail` and `remedy` say.'),
      }),
    ),
  },
  { $id: 'DoctorReport' },
)

/** What `platform doctor` finds where this process runs, as its user (docs/specification.md, Health). */
export function doctorRoute(clock: Clock, examine: () => Promise<DoctorFinding[]>): Route {
  const report = async () => ({
    examinedAt: clock.monotonic(),
    body: { examined_at: toRfc3339(clock.now()), ...doctorReport(await examine()) },
  })
  let latest: Promise<{ examinedAt: number; body: DoctorReport & { examined_at: string } }> | undefined
  const read = async () => {
    const known = await latest
    if (known && clock.monotonic() - known.examinedAt < KEPT_MS) return known.body
    const next = report()
    latest = next
    next.catch(() => (latest = undefined))
    return (await next).body
  }
  return route({
    method: 'GET',
    path: '/doctor',
    operation: 'getDoctorReport',
    summary: 'What is wrong with this server and the platform on it',
    description: 'As `platform doctor --json` of the process that answers; at most once in five minutes.',
    access: ['admin'],
    answers: { 200: { description: 'Each thing that was examined.', schema: ReportSchema } },
    read: async () => ok(await read()),
  })
}
