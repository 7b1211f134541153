import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { SEVERITIES } from '../../../src/domains/alerts/model.ts'
import { operationsOf, type OpenApiDocument, type PlacedOperation } from '../../../scripts/docs/open-api.ts'

const DOCS = join(import.meta.dirname, '../../../docs')
const DOCUMENT = JSON.parse(readFileSync(join(DOCS, 'reference/openapi.json'), 'utf8')) as OpenApiDocument
const GUIDE = readFileSync(join(DOCS, 'guide/api-conventions.md'), 'utf8')

// Another API decides it.
const OWN = operationsOf(DOCUMENT).filter(({ operationId }) => !/Alertmanager|Prometheus/.test(operationId))
// docs/guide/api-conventions.md, Exceptions
const WITHOUT_PAGES = [
  'listVpnTunnels',
  'listUserNames',
  'getOrderHistory',
  'getPaymentHistory',
  'getTelemetryAgent',
]
const OTHER_TIMES = [
  'at',
  'since',
  'from',
  'to',
  'not_before',
  'not_after',
  'failing_since',
  'former_secret_until',
]
const OTHER_TIME_FILTERS = ['from', 'to', 'expires_before']
// A browser gets a page, and a supervisor what it looks for.
const OTHER_ERRORS = ['beginSignIn', 'finishSignIn', 'getHealth', 'getReady']

const SNAKE_CASE = /^[a-z][a-z0-9]*(?:_[a-z0-9]+)*$/

interface Keywords {
  readonly format?: string
  readonly type?: unknown
  readonly enum?: readonly unknown[]
}

/** Each field of the operations and of the named schemas, with its schema. */
function fields(): [where: string, name: string, schema: Keywords][] {
  const found: [string, string, Keywords][] = []
  const walk = (where: string, value: unknown): void => {
    if (typeof value !== 'object' || value === null) return
    const { properties = {} } = value as { properties?: Record<string, Keywords> }
    for (const [name, schema] of Object.entries(properties)) found.push([where, name, schema])
    for (const member of Object.values(value)) walk(where, member)
  }
  for (const operation of OWN) walk(operation.operationId, [operation.requestBody, operation.responses])
  for (const [name, schema] of Object.entries(DOCUMENT.components.schemas)) walk(name, schema)
  return found
}

const parameters = () =>
  OWN.flatMap(({ operationId, parameters: all = [] }) =>
    all.filter((each) => each.in === 'query').map((each) => [operationId, each.name, each.schema] as const),
  )

/** What breaks a rule. */
const breaches = (rule: (operation: PlacedOperation) => boolean) =>
  OWN.filter((operation) => !rule(operation)).map(({ operationId }) => operationId)

const takes = ({ parameters: all = [] }: PlacedOperation, name: string) =>
  all.some((each) => each.name === name)

test('paths have words in small letters with hyphens', () => {
  assert.deepEqual(
    breaches(({ path }) => /^(?:\/[a-z0-9-]+|\/\{[a-z]+(?:_[a-z]+)*\})+$/.test(path)),
    [],
  )
})

test('fields, parameters and words of closed sets are snake_case; only severities are in capitals', () => {
  const named = [...fields(), ...parameters()]
  const isSeverity = (name: string) => (SEVERITIES as readonly string[]).includes(name)
  assert.deepEqual(
    named
      .filter(([, name]) => !SNAKE_CASE.test(name) && !isSeverity(name))
      .map(([where, name]) => `${where}.${name}`),
    [],
  )
  const words = named.flatMap(([where, name, { enum: all = [] }]) =>
    all.filter((word) => typeof word === 'string').map((word) => [`${where}.${name}`, name, word] as const),
  )
  const isException = (name: string) => ['severity', 'token_type'].includes(name)
  assert.deepEqual(
    words.filter(([, name, word]) => !SNAKE_CASE.test(word) && !isException(name)).map(([where]) => where),
    [],
  )
})

test('times are named so, and money is an integer in cents', () => {
  const isTime = ([, , { format }]: readonly [string, string, Keywords]) => format === 'date-time'
  const named = (pattern: RegExp, others: readonly string[]) => (name: string) =>
    pattern.test(name) || others.includes(name)
  const answers = fields()
    .filter(isTime)
    .map(([, name]) => name)
  assert.deepEqual(new Set(answers.filter((name) => !named(/_at$/, OTHER_TIMES)(name))), new Set())
  const queries = parameters()
    .filter(isTime)
    .map(([, name]) => name)
  assert.deepEqual(
    new Set(queries.filter((name) => !named(/_(?:from|to)$/, OTHER_TIME_FILTERS)(name))),
    new Set(),
  )
  for (const [where, name, { type }] of fields())
    if (name.endsWith('_cents')) assert.ok([type].flat().includes('integer'), `${where}.${name}`)
})

test('a list has pages', () => {
  const isList = ({ responses }: PlacedOperation) =>
    Object.hasOwn(responses['200']?.content?.['application/json']?.schema.properties ?? {}, 'items')
  const withoutPages = breaches(
    (operation) => !isList(operation) || (takes(operation, 'limit') && takes(operation, 'cursor')),
  )
  assert.deepEqual(
    withoutPages.filter((name) => !WITHOUT_PAGES.includes(name)),
    [],
  )
})

test('a new object has its path in Location; a deletion has no body', () => {
  const headersOf = ({ responses }: PlacedOperation) => JSON.stringify(responses['201'] ?? { Location: 1 })
  assert.deepEqual(
    breaches((operation) => headersOf(operation).includes('"Location"')),
    [],
  )
  assert.deepEqual(
    breaches(({ method, responses }) => method !== 'DELETE' || responses['204'] !== undefined),
    [],
  )
})

test('each POST of an identified caller takes an Idempotency-Key, and nothing else does', () => {
  assert.deepEqual(
    breaches((operation) => {
      const isKeyed = operation.method === 'POST' && operation['x-roles'] !== 'public'
      return takes(operation, 'Idempotency-Key') === isKeyed
    }),
    [],
  )
})

test('an error is the same object everywhere', () => {
  const errors = OWN.filter(({ operationId }) => !OTHER_ERRORS.includes(operationId)).flatMap(
    ({ operationId, responses }) =>
      Object.entries(responses)
        .filter(([status]) => Number(status) >= 400)
        .map(([status, answer]) => [`${operationId} ${status}`, JSON.stringify(answer)] as const),
  )
  assert.deepEqual(
    errors.filter(([, answer]) => !answer.includes('schemas/Error"')).map(([where]) => where),
    [],
  )
})

test('the guide has each exception', () => {
  for (const name of [...WITHOUT_PAGES, ...OTHER_TIMES, ...OTHER_TIME_FILTERS, ...OTHER_ERRORS])
    assert.ok(GUIDE.includes(`\`${name}\``), name)
})
