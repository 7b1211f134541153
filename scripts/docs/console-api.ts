import { FAULTS } from '../../src/kernel/faults.ts'
import { GENERATED_NOTE, jsonBodyOf, operationTable } from './client-api.ts'
import { operationsOf, type OpenApiDocument } from './open-api.ts'

/**
 * What the console knows of the API besides the client for programs: the faults of fields, and the schemas of the bodies,
 * which only forms need.
 */
export function consoleApi(document: OpenApiDocument): string {
  const operations = operationsOf(document).filter(jsonBodyOf)
  const bodies = `export const BODIES = ${operationTable(operations, jsonBodyOf)} as const\n`
  const faults = `export type FaultCode =\n${Object.keys(FAULTS)
    .map((code) => `  | '${code}'`)
    .join('\n')}`
  return [GENERATED_NOTE, faults, bodies].join('\n\n')
}

/** What each operation does, in English: what the console shows of a record of the audit trail. */
export function consoleSummaries(document: OpenApiDocument): string {
  const table = operationTable(operationsOf(document), ({ summary }) => summary)
  return [GENERATED_NOTE, `export const SUMMARIES = ${table} as const\n`].join('\n\n')
}
