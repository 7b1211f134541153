import { FINDINGS } from '../../src/app/doctor/findings.ts'
import { FAULTS } from '../../src/kernel/faults.ts'
import { GENERATED_NOTE, jsonBodyOf, operationTable } from './client-api.ts'
import { operationsOf, type OpenApiDocument } from './open-api.ts'

/**
 * What the console knows of the API besides the client for programs: the codes of the faults of fields and of the findings of the
 * doctor, and the schemas of the bodies, which only forms need.
 */
export function consoleApi(document: OpenApiDocument): string {
  const operations = operationsOf(document).filter(jsonBodyOf)
  const bodies = `export const BODIES = ${operationTable(operations, jsonBodyOf)} as const\n`
  return [GENERATED_NOTE, codesOf('FaultCode', FAULTS), codesOf('FindingCode', FINDINGS), bodies].join('\n\n')
}

function codesOf(name: string, sentences: object): string {
  const codes = Object.keys(sentences).map((code) => `  | '${code}'`)
  return [`export type ${name} =`, ...codes].join('\n')
}

/** What each operation does, in English: what the console shows of a record of the audit trail. */
export function consoleSummaries(document: OpenApiDocument): string {
  const table = operationTable(operationsOf(document), ({ summary }) => summary)
  return [GENERATED_NOTE, `export const SUMMARIES = ${table} as const\n`].join('\n\n')
}
