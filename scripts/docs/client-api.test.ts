import assert from 'node:assert/strict'
import { test } from 'node:test'
import { clientApi } from './client-api.ts'
import { consoleApi } from './console-api.ts'

const DOCUMENT = {
  components: {
    schemas: {
      Item: {
        type: 'object',
        required: ['id'],
        properties: {
          id: { type: 'string' },
          count: { type: ['integer', 'null'] },
          level: { type: 'string', enum: ['high', 'low'] },
          more: { type: 'object', patternProperties: { '^.*$': { type: 'number' } } },
        },
      },
    },
  },
  paths: {
    '/items': {
      get: {
        operationId: 'listItems',
        tags: [],
        summary: '',
        'x-roles': 'public',
        'x-repeatable': false,
        responses: { 200: { description: '', content: { 'text/plain': { schema: { type: 'string' } } } } },
      },
      post: {
        operationId: 'addItem',
        tags: [],
        summary: '',
        'x-roles': 'public',
        parameters: [{ name: 'Idempotency-Key', in: 'header', required: false, schema: { type: 'string' } }],
        responses: { 204: { description: '' } },
      },
    },
    '/items/{id}': {
      put: {
        operationId: 'putItem',
        tags: [],
        summary: '',
        'x-roles': ['admin'],
        parameters: [
          { name: 'id', in: 'path', required: true, schema: { type: 'string' } },
          { name: 'all', in: 'query', required: false, schema: { type: 'boolean' } },
        ],
        requestBody: { content: { 'application/json': { schema: { type: 'object', properties: {} } } } },
        responses: {
          200: {
            description: '',
            content: {
              'application/json': { schema: { type: 'array', items: { $ref: '#/components/schemas/Item' } } },
            },
          },
          204: { description: '' },
          400: { description: '' },
        },
      },
    },
  },
} as const

test('types, roles and calls of the operations are written from the document', () => {
  const text = clientApi(DOCUMENT)
  for (const part of [
    `Item: { readonly "id": string; readonly "count"?: number | null; readonly "level"?: "high" | "low"; readonly "more"?: { readonly [name: string]: number } }`,
    `path: { readonly "id": string }; query: { readonly "all"?: boolean }; headers: undefined;`,
    `answer: readonly (Schemas['Item'])[] | undefined }`,
    `putItem: {"method":"PUT","path":"/items/{id}","access":["admin"],"answer":"json","isKeyed":false,"isRepeatable":true},`,
    `addItem: {"method":"POST","path":"/items","access":"public","answer":"none","isKeyed":true,"isRepeatable":true},`,
    `listItems: {"method":"GET","path":"/items","access":"public","answer":"text","isKeyed":false,"isRepeatable":false},`,
  ]) {
    assert.ok(text.includes(part), `${part}\n\n${text}`)
  }
})

test('an answer whose content type no client can read is an error', () => {
  const responses = { 200: { description: '', content: { 'image/png': { schema: {} } } } }
  const operation = {
    operationId: 'getImage',
    tags: [],
    summary: '',
    'x-roles': 'public',
    responses,
  } as const
  const document = { components: { schemas: {} }, paths: { '/image': { get: operation } } }
  assert.throws(() => clientApi(document), /getImage: .*image\/png/)
})

test('schemas of the bodies are written for the console', () => {
  const text = consoleApi(DOCUMENT)
  assert.ok(text.includes(`putItem: {"type":"object","properties":{}},`), text)
  assert.ok(!text.includes('listItems'), text)
})
