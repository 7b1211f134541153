import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { ROLES } from '../../../src/kernel/identity.ts'
import { DOMAINS, ERROR_CODES } from '../../../src/app/domains.ts'
import { bodySchema, hasOpenBody, resolveReferences, type Place, type Schema } from './document.ts'
import { assertAccepted, openApi } from './client.ts'
import { EXPECTED_ACCESS } from './expected-access.ts'
import { fieldsOf, sampleOf, toRequest } from './samples.ts'

const api = await openApi()
after(() => api[Symbol.asyncDispose]())

const METHODS = ['get', 'post', 'put', 'patch', 'delete']
const PAGES = ['/docs', '/openapi.json']

describe('the document', () => {
  test('is served as OpenAPI 3.1, with the version of the program', async () => {
    const answer = await api.send({ method: 'GET', path: '/openapi.json', headers: {} })
    assert.match(String(answer.headers['content-type']), /^application\/json/)
    assert.match(api.document.openapi, /^3\.1\.\d$/)
    const health = await api.send({ method: 'GET', path: '/health', headers: {} })
    assert.equal(api.document.info.version, (health.json() as { version: string }).version)
    assert.notEqual(api.document.info.title, '')
  })

  test('has only the top-level fields of OpenAPI 3.1', () => {
    const known = [
      'openapi',
      'info',
      'servers',
      'paths',
      'webhooks',
      'components',
      'security',
      'tags',
      'externalDocs',
    ]
    for (const name of Object.keys(api.document)) assert.ok(known.includes(name), name)
  })

  test('has no reference that leads nowhere', () => {
    // Fails for a reference that leads nowhere.
    assert.ok(resolveReferences(api.document, api.document.paths))
    assert.ok(resolveReferences(api.document, api.document.components.schemas))
  })

  test('has each event with what it carries, and each code of an error', () => {
    const subjects = DOMAINS.flatMap(({ events }) => Object.values<string>(events))
    assert.deepEqual(Object.keys(api.document.webhooks).toSorted(), subjects.toSorted())
    assert.ok(resolveReferences(api.document, api.document.webhooks))
    const { code } = api.document.components.schemas['Error']?.properties ?? {}
    assert.deepEqual(code?.enum, Object.keys(ERROR_CODES).toSorted())
  })

  test('writes each named schema once', () => {
    const written = JSON.stringify(api.document.paths)
    for (const [name, schema] of Object.entries(api.document.components.schemas))
      assert.ok(!written.includes(JSON.stringify(schema)), name)
    assert.ok(Object.hasOwn(api.document.components.schemas, 'Order'))
  })

  test('has a unique id for each operation', () => {
    const ids = api.places.map(({ operation }) => operation.operationId)
    assert.deepEqual(
      ids.filter((id, index) => ids.indexOf(id) !== index),
      [],
    )
    for (const id of ids) assert.match(id, /^[a-z]+([A-Z][a-z]*)*$/)
  })

  test('lists every operation that the server has, and nothing more', async () => {
    for (const name of Object.keys(EXPECTED_ACCESS)) {
      const [method = '', path = ''] = name.split(' ')
      const answer = await api.send({ method, path: path.replace(/\{.*?\}/g, 'x'), headers: {} })
      const listed = api.document.paths[path]?.[method.toLowerCase()] !== undefined
      // An operation that exists may answer 404 too, with a code of its own.
      const isMissing = answer.status === 405 || answer.text.includes('"route_not_found"')
      assert.equal(listed, !isMissing, `${name} answers ${answer.status}`)
    }
  })

  test('lists every method of a path; others are answered with 405', async () => {
    for (const [path, operations] of Object.entries(api.document.paths)) {
      for (const method of METHODS.filter((each) => !Object.hasOwn(operations, each))) {
        const answer = await api.send({
          method: method.toUpperCase(),
          path: path.replace(/\{.*?\}/g, 'x'),
          headers: {},
        })
        assert.equal(answer.status, 405, `${method} ${path}`)
        assert.deepEqual(
          String(answer.headers['allow'])
            .split(', ')
            .filter((each) => each !== 'HEAD')
            .sort(),
          Object.keys(operations)
            .map((each) => each.toUpperCase())
            .sort(),
        )
      }
    }
  })

  test('does not describe the pages that show it', () => {
    for (const path of Object.keys(api.document.paths))
      assert.ok(!PAGES.some((page) => path.startsWith(page)), path)
  })
})

/** Bounds that docs/specification.md names, written down by hand. */
const BOUNDS: Readonly<Record<string, Partial<Schema>>> = {
  'createOrder.order_id': { pattern: '^[A-Za-z0-9._:-]{1,64}$' },
  'createOrder.platform': { minLength: 1, maxLength: 64 },
  'createOrder.amount_cents': { minimum: 0, maximum: 2 ** 53 - 1 },
  'moveOrder.status': { enum: ['pending', 'paid', 'shipped', 'completed', 'expired'] },
  'createUser.name': { pattern: '^[A-Za-z0-9._@+-]{1,254}$' },
  'createUser.password': { minLength: 12, maxLength: 256 },
  'setPassword.password': { minLength: 12, maxLength: 256 },
  'reportAlert.level': { minimum: 0, maximum: 5 },
  'reportAlert.weight': { minimum: 0, maximum: 6 },
  'listMessages.status': { enum: ['pending', 'delivered', 'dead'] },
  'listAlerts.status': { items: { type: 'string', enum: ['firing', 'acknowledged', 'recovered', 'frozen'] } },
}

test('the bounds in the OpenAPI document are those of the specification', () => {
  for (const [name, bounds] of Object.entries(BOUNDS)) assertBounds(name, bounds)
  for (const { operation } of api.places.filter((place) => fieldOf(place, 'cursor')))
    assertBounds(`${operation.operationId}.limit`, { minimum: 1, maximum: 1_000 })
})

test('every list can be restricted to a time range', () => {
  // Commands and receivers come from the configuration, and have no time; differences are of one day; the audit trail has
  // `from` and `to`.
  const timeless = ['listCommands', 'listReceivers', 'listPaymentDifferences', 'listAudit']
  const lists = api.places.filter(
    (place) => fieldOf(place, 'cursor') && !timeless.includes(place.operation.operationId),
  )
  assert.notEqual(lists.length, 0)
  for (const place of lists)
    for (const name of ['created_from', 'created_to'])
      assert.equal(fieldOf(place, name)?.type, 'string', `${place.operation.operationId}.${name}`)
})

function assertBounds(name: string, bounds: Partial<Schema>): void {
  const [id, field = ''] = name.split('.')
  const place = api.places.find(({ operation }) => operation.operationId === id)
  const schema = place && fieldOf(place, field)
  assert.ok(schema, `${name} is missing`)
  assert.deepEqual({ ...schema, ...bounds }, schema, name)
}

/** A field of the body or of the query. */
function fieldOf({ operation }: Place, field: string): Schema | undefined {
  return (
    bodySchema(operation)?.properties?.[field] ??
    operation.parameters?.find(({ name }) => name === field)?.schema
  )
}

for (const place of api.places) {
  const { method, path, operation } = place

  describe(`${method} ${path} in the document`, () => {
    test('has a summary, a description and a tag', () => {
      assert.match(operation.summary ?? '', /^[A-Z].*[^.]$/)
      assert.match(operation.description ?? '', /\.$/)
      assert.equal(operation.tags?.length, 1)
    })

    test('describes the required roles', () => {
      const expected = EXPECTED_ACCESS[`${method} ${path}`]
      const roles = operation['x-roles']
      if (expected === 'public') assert.deepEqual([roles, operation.security], ['public', []])
      else assert.notDeepEqual(operation.security, [])
      if (Array.isArray(roles)) {
        for (const role of roles) assert.ok((ROLES as readonly unknown[]).includes(role), String(role))
        assert.deepEqual(new Set(roles), new Set(expected))
        for (const role of roles) assert.ok(operation.description?.includes(String(role)))
      }
    })

    test('names every parameter of its path', () => {
      const named = (operation.parameters ?? []).filter((each) => each.in === 'path')
      assert.deepEqual(
        named.map(({ name }) => name),
        [...path.matchAll(/\{([^}]+)\}/g)].map(([, name]) => name),
      )
      assert.ok(named.every(({ required }) => required))
    })

    test('declares a successful response, and each error', () => {
      const declared = Object.keys(operation.responses).map(Number)
      assert.ok(declared.some((status) => status >= 200 && status < 400))
      for (const status of expectedRefusals(place))
        assert.ok(declared.includes(status), `${status} is not declared`)
    })

    test('describes every response, and errors by their codes', () => {
      for (const [status, { description = '', content }] of Object.entries(operation.responses)) {
        assert.match(description, /\.$/)
        if (!content?.['application/json'] || !refers(content['application/json'].schema, 'Error')) continue
        const codes = [...description.matchAll(/`([a-z_]+)`:/g)].map(([, code]) => code as string)
        assert.notEqual(codes.length, 0, `${status}: ${description}`)
        for (const code of codes) assert.equal(ERROR_CODES[code]?.status, Number(status), code)
      }
    })

    test('rejects unknown fields, and bounds the known ones', () => {
      const body = bodySchema(operation)
      if (body && !hasOpenBody(operation)) assertClosed(body, 'the body')
      for (const { name, schema } of operation.parameters ?? []) assertBounded(schema, name)
    })

    test('accepts its own examples', async () => {
      const body = bodySchema(operation)
      for (const [field, schema] of Object.entries(body?.properties ?? {})) {
        for (const example of schema.examples ?? []) {
          const sample = sampleOf(place)
          assertAccepted(
            await api.send(toRequest(place, { ...sample, body: { ...fieldsOf(sample), [field]: example } })),
            field,
          )
        }
      }
    })

    test('describes fields that have a format, with an example', () => {
      for (const [field, schema] of Object.entries(bodySchema(operation)?.properties ?? {})) {
        const isFreeText = schema.pattern?.startsWith('^[^') ?? true
        assert.ok(isFreeText || (schema.description && schema.examples), field)
      }
    })
  })
}

function expectedRefusals({ method, operation }: Place): number[] {
  const takesBody = method !== 'GET'
  const isPublic = operation['x-roles'] === 'public'
  const createsByName = method === 'PUT' && '201' in operation.responses
  return [
    400,
    429,
    500,
    503,
    ...(isPublic ? [] : [401]),
    ...(Array.isArray(operation['x-roles']) ? [403] : []),
    ...(operation.parameters?.some((each) => each.in === 'path') && !createsByName ? [404] : []),
    ...(takesBody ? [413, 415] : []),
    ...(method === 'POST' && !isPublic ? [409] : []),
  ]
}

function refers(schema: object, name: string): boolean {
  return '$ref' in schema && schema.$ref === `#/components/schemas/${name}`
}

function assertClosed(schema: Schema, what: string): void {
  assert.deepEqual([schema.type, schema.additionalProperties], ['object', false], what)
  for (const [name, field] of Object.entries(schema.properties ?? {})) assertBounded(field, name)
}

/** Text, lists and numbers that have no end would let one call cost as much as it likes. */
function assertBounded(schema: Schema, what: string): void {
  if (schema.type === 'array') {
    assert.ok(schema.maxItems !== undefined && schema.items, what)
    return assertBounded(schema.items, what)
  }
  if (schema.type === 'object' && schema.properties) return assertClosed(schema, what)
  if (schema.type === 'object') return assert.ok(schema.maxProperties !== undefined, what)
  if (schema.type === 'integer')
    return assert.ok(schema.minimum !== undefined && schema.maximum !== undefined, what)
  if (schema.type !== 'string' || schema.enum) return
  assert.ok(schema.maxLength !== undefined || /\{\d+,\d+\}\$$/.test(schema.pattern ?? ''), what)
}
