import assert from 'node:assert/strict'
import { test } from 'node:test'
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

test('types, roles and bodies of the operations are written from the document', () => {
  const text = consoleApi(DOCUMENT)
  for (const part of [
    `Item: { readonly "id": string; readonly "count"?: number | null; readonly "level"?: "high" | "low"; readonly "more"?: { readonly [name: string]: number } }`,
    `path: { readonly "id": string }; query: { readonly "all"?: boolean };`,
    `answer: readonly (Schemas['Item'])[] | undefined }`,
    `putItem: {"method":"PUT","path":"/items/{id}","access":["admin"]},`,
    `putItem: {"type":"object","properties":{}},`,
  ]) {
    assert.ok(text.includes(part), `${part}\n\n${text}`)
  }
})
