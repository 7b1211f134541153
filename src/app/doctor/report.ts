import { styleText } from 'node:util'
import type { SentenceCause } from '../../kernel/errors.ts'
import { alignColumns } from '../../kernel/text.ts'

import { RESULTS, type CheckResult } from './check.ts'
import { documentPath, type FindingCode } from './findings.ts'
import type { DoctorFinding } from './doctor.ts'

const STYLES = { ok: 'green', warning: 'yellow', error: 'red', skipped: 'dim' } as const

// Narrower than that a sentence cannot be read.
const NARROWEST = 30

/** The gravest result; a skipped check is no fault. */
export function gravest(findings: readonly DoctorFinding[]): Exclude<CheckResult, 'skipped'> {
  const results = new Set(findings.map(({ result }) => result))
  return RESULTS.findLast((result) => result !== 'skipped' && results.has(result)) as 'ok'
}

/** The report as programs read it. */
export interface DoctorReport {
  readonly status: ReturnType<typeof gravest>
  readonly findings: readonly {
    readonly check: string
    readonly subject: string
    readonly result: CheckResult
    readonly detail: string
    readonly remedy: string | null
    readonly cause: SentenceCause<FindingCode> | null
  }[]
}

export function doctorReport(found: readonly DoctorFinding[]): DoctorReport {
  const findings = found.map(({ remedy = null, cause = null, check, subject, result, detail }) => {
    return { check, subject, result, detail, remedy, cause }
  })
  return { status: gravest(found), findings }
}

interface Screen {
  readonly inColor: boolean
  /** The width of the terminal; undefined elsewhere, where lines are searched and not read. */
  readonly columns: number | undefined
}

/** A table; what to do is on a line of its own below its finding. On a terminal long details continue below themselves. */
export function doctorText(findings: readonly DoctorFinding[], { inColor, columns }: Screen): string {
  const rows = findings.map(({ check, result, subject, detail }) => [check, result, subject, detail])
  const [heading = '', ...lines] = alignColumns([['CHECK', 'RESULT', 'SUBJECT', 'DETAIL'], ...rows])
    .trimEnd()
    .split('\n')
  const start = heading.indexOf('DETAIL')
  const wrapped = columns === undefined ? lines : lines.map((line) => wrap(line, start, columns))
  const body = findings.flatMap(({ result, remedy }, index) => [
    inColor ? colorResult(wrapped[index] ?? '', result) : (wrapped[index] ?? ''),
    ...(remedy === undefined ? [] : [`    → ${remedy}`]),
  ])
  const guide =
    gravest(findings) === 'ok' ? [] : [`By symptom: ${documentPath('docs/guide/when-something-is-wrong.md')}`]
  return `${[heading, ...body, '', summary(findings), ...guide].join('\n')}\n`
}

/** Breaks what begins at `start` between words; what is wider than the terminal on its own stays whole. */
function wrap(line: string, start: number, columns: number): string {
  const width = Math.max(columns - start, NARROWEST)
  const [first = '', ...words] = line.slice(start).split(' ')
  const parts = words.reduce(
    ([...done], word) => {
      const last = done.pop() ?? ''
      return last.length + 1 + word.length > width ? [...done, last, word] : [...done, `${last} ${word}`]
    },
    [first],
  )
  return line.slice(0, start) + parts.join(`\n${' '.repeat(start)}`)
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
