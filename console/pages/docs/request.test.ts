import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { OpenApiDocument, Operation } from './document.ts'
import { buildRequest, exampleBody, missingParameters, toCurl } from './request.ts'

const API: OpenApiDocument = {
  info: { title: 'API', version: '1', description: '' },
  components: { schemas: { Owner: { type: 'object', properties: { name: { type: 'string' } } } } },
  paths: {},
}
const OPERATION: Operation = {
  operationId: 'moveThing',
  summary: 'Move a thing',
  tags: ['Things'],
  method: 'PUT',
  path: '/things/{id}',
  parameters: [
    { name: 'id', in: 'path', required: true, schema: { type: 'string' } },
    { name: 'force', in: 'query', required: false, schema: { type: 'boolean' } },
    { name: 'If-Match', in: 'header', required: false, schema: { type: 'string' } },
  ],
  requestBody: {
    content: {
      'application/json': {
        schema: {
          type: 'object',
          required: ['place', 'size', 'owner', 'tags'],
          properties: {
            place: { type: 'string', examples: ['shelf'] },
            size: { type: 'string', enum: ['small', 'large'] },
            owner: { $ref: '#/components/schemas/Owner' },
            tags: { type: 'array', items: { type: 'integer' } },
            until: { type: 'string', format: 'date-time', examples: ['2026-01-31T02:00:00Z'] },
          },
        },
      },
    },
  },
  responses: {},
}

test('a request has its parameters in path, query and headers, and the token', () => {
  const parameters = { id: 'a/b', force: 'true', 'If-Match': '"1"' }
  assert.deepEqual(buildRequest(OPERATION, { parameters, body: '{}', token: 'abc' }), {
    path: '/things/a%2Fb?force=true',
    init: {
      method: 'PUT',
      headers: { authorization: 'Bearer abc', 'content-type': 'application/json', 'If-Match': '"1"' },
      body: '{}',
    },
  })
})

test('empty parameters and an empty token are not sent', () => {
  const { path, init } = buildRequest(OPERATION, {
    parameters: { id: '1', force: '' },
    body: '{}',
    token: '',
  })
  assert.equal(path, '/things/1')
  assert.deepEqual(init.headers, { 'content-type': 'application/json' })
})

test('required parameters without a value are missing', () => {
  assert.deepEqual(missingParameters(OPERATION, { parameters: { force: 'true' } }), ['id'])
  assert.deepEqual(missingParameters(OPERATION, { parameters: { id: '1' } }), [])
})

test('the example of a body has the required fields, so a time in it cannot have passed', () => {
  assert.deepEqual(JSON.parse(exampleBody(API, OPERATION)), {
    place: 'shelf',
    size: 'small',
    owner: { name: 'text' },
    tags: [1],
  })
})

test('a command for the shell quotes its values and does not contain the token', () => {
  const request = buildRequest(OPERATION, { parameters: { id: '1' }, body: `{"a":"it's"}`, token: 'secret' })
  assert.equal(
    toCurl('http://127.0.0.1:9600', request),
    `curl -s -X PUT 'http://127.0.0.1:9600/things/1' -H "Authorization: Bearer $TOKEN" ` +
      String.raw`-H 'content-type: application/json' -d '{"a":"it'\''s"}'`,
  )
})
