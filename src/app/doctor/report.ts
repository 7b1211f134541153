import { styleText } from 'node:util'
import { alignColumns } from '../../kernel/table.ts'
import { RESULTS, type CheckResult } from './check.ts'
import type { DoctorFinding } from './doctor.ts'

const STYLES = { ok: 'green', warning: 'yellow', error: 'red', skipped: 'dim' } as const

/** The gravest result; a skipped check is no fault. */
export function gravest(findings: readonly DoctorFinding[]): Exclude<CheckResult, 'skipped'> {
  const results = new Set(findings.map(({ result }) => result))
  return RESULTS.findLast((result) => result !== 'skipped' && results.has(result)) as 'ok'
}

export function doctorJson(findings: readonly DoctorFinding[]): string {
  const items = findings.map(({ remedy = null, check, subject, result, detail }) => {
    return { check, subject, result, detail, remedy }
  })
  return `${JSON.stringify({ status: gravest(findings), findings: items })}\n`
}

/** A table; what to do is on a line of its own below its finding. */
export function doctorText(
  findings: readonly DoctorFinding[],
  { inColor }: { readonly inColor: boolean },
): string {
  const rows = findings.map(({ check, result, subject, detail }) => [check, result, subject, detail])
  const [heading = '', ...lines] = alignColumns([['CHECK', 'RESULT', 'SUBJECT', 'DETAIL'], ...rows])
    .trimEnd()
    .split('\n')
  const body = findings.flatMap(({ result, remedy }, index) => [
    inColor ? colorResult(lines[index] ?? '', result) : (lines[index] ?? ''),
    ...(remedy === undefined ? [] : [`    → ${remedy}`]),
  ])
  return `${[heading, ...body, '', summary(findings)].join('\n')}\n`
}

function colorResult(line: string, result: CheckResult): string {
  // On a terminal the caller decides, not the stream that this function cannot see.
  return line.replace(` ${result} `, ` ${styleText(STYLES[result], result, { validateStream: false })} `)
}

function summary(findings: readonly DoctorFinding[]): string {
  const count = (wanted: CheckResult) => findings.filter(({ result }) => result === wanted).length
  return RESULTS.toReversed()
    .map((result) => `${count(result)} ${result}`)
    .join(', ')
}
