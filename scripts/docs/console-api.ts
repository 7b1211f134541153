import { FAULTS } from '../../src/kernel/faults.ts'
import { GENERATED_NOTE, jsonBodyOf, operationTable } from './client-api.ts'
import { operationsOf, type OpenApiDocument } from './open-api.ts'

const SHARED = "export { OPERATIONS, type Operations } from '../../clients/typescript/src/generated.ts'"

/** The API for the code of the console: what the client for programs knows, the faults of fields, and the schemas of the bodies. */
export function consoleApi(document: OpenApiDocument): string {
  const operations = operationsOf(document).filter(jsonBodyOf)
  const bodies = `export const BODIES = ${operationTable(operations, jsonBodyOf)} as const\n`
  const faults = `export type FaultCode =\n${Object.keys(FAULTS)
    .map((code) => `  | '${code}'`)
    .join('\n')}`
  return [GENERATED_NOTE, SHARED, faults, bodies].join('\n\n')
}
