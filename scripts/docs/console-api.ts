import { FINDINGS } from '../../src/app/doctor/findings.ts'
import { ORDER_MOVES } from '../../src/domains/orders/model.ts'
import { TICKET_MOVES } from '../../src/domains/tickets/model.ts'
import { FAULTS } from '../../src/kernel/errors.ts'
import { eventSchemas, GENERATED_NOTE, jsonBodyOf, operationTable } from './client-api.ts'
import { operationsOf, type OpenApiDocument, type PlacedOperation } from './open-api.ts'

/**
 * What the console knows of the API besides the client for programs: the codes of the faults of fields and of the findings of the
 * doctor, the values that the parameters of a query take, the moves of orders and tickets, the objects that events are about, and
 * the schemas of the bodies, which only forms need.
 */
export function consoleApi(document: OpenApiDocument): string {
  const operations = operationsOf(document)
  const parts = [
    codesOf('FaultCode', FAULTS),
    codesOf('FindingCode', FINDINGS),
    constant('VALUES', operationTable(operations.filter(valuesOf), valuesOf)),
    constant('ORDER_MOVES', JSON.stringify(ORDER_MOVES)),
    constant('TICKET_MOVES', JSON.stringify(TICKET_MOVES)),
    constant('EVENT_SCHEMAS', JSON.stringify(eventSchemas(document), null, 2)),
    constant('BODIES', operationTable(operations.filter(jsonBodyOf), jsonBodyOf)),
  ]
  return `${[GENERATED_NOTE, ...parts].join('\n\n')}\n`
}

function constant(name: string, text: string): string {
  return `export const ${name} = ${text} as const`
}

/** The values of each parameter of the query that takes only some; undefined for an operation without one. */
function valuesOf({ parameters = [] }: PlacedOperation): Record<string, readonly unknown[]> | undefined {
  const found = parameters.flatMap(({ in: place, name, schema }) => {
    const values = schema.enum ?? schema.items?.enum
    return place === 'query' && values ? [[name, values] as const] : []
  })
  return found.length > 0 ? Object.fromEntries(found) : undefined
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
