import { ERROR_CODES } from '../../src/app/domains.ts'
import { FINDINGS } from '../../src/app/doctor/findings.ts'
import { FAULTS } from '../../src/kernel/errors.ts'
import { COMMON_ERRORS, type ErrorCode } from '../../src/wire/error-codes.ts'
import { anchored, code, page, table } from './markdown.ts'

const BODY = `An error response has the HTTP status and a body with \`code\`, \`message\` and, for invalid fields,
\`details\`. Programs should check \`code\`; \`message\` is for people and may change.`

const FAULTS_TEXT = `Each of the \`details\` has the \`path\` of a field, a \`code\` of these, the \`values\` that its sentence
names, and the sentence.`

const FINDINGS_TEXT = `A warning or an error of \`platform doctor --json\` and of \`GET /doctor\` has a \`cause\`: a \`code\`
of these, and the \`values\` that its sentences name. Where the remedy is one of several, \`remedyCode\` says which: of an
alert its \`alarm_id\`, as [the list](alerts.md) has it.`

export function errorsPage(): string {
  return page(
    'Errors',
    BODY,
    '## Any operation',
    codeTable(COMMON_ERRORS),
    '## Of particular operations',
    codeTable(specificErrors()),
    '## Faults of fields',
    FAULTS_TEXT,
    table(
      ['Code', 'Sentence'],
      Object.entries(FAULTS).map(([name, sentence]) => [code(name), withPlaces(sentence)]),
    ),
    '## Findings of the doctor',
    FINDINGS_TEXT,
    table(
      ['Code', 'Sentence', 'What to do'],
      Object.entries(FINDINGS).map(([name, { detail, remedy }]) => [
        code(name),
        withPlaces(detail),
        withPlaces(remedy),
      ]),
    ),
  )
}

function withPlaces(sentence: string): string {
  return sentence.replaceAll(/\{(\w+)\}/g, '`$1`')
}

function specificErrors(): Readonly<Record<string, ErrorCode>> {
  const specific = Object.entries(ERROR_CODES).filter(([code]) => !(code in COMMON_ERRORS))
  return Object.fromEntries(specific.sort(([a], [b]) => (a < b ? -1 : 1)))
}

function codeTable(codes: Readonly<Record<string, ErrorCode>>): string {
  const rows = Object.entries(codes).map(([name, { status, meaning }]) => [
    anchored(name),
    String(status),
    meaning,
  ])
  return table(['Code', 'Status', 'Meaning'], rows)
}
