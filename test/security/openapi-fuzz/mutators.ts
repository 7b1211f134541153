import { ROLES } from '../../../src/kernel/identity.ts'
import {
  bodySchema,
  hasOpenBody,
  type Parameter,
  type Place,
  type Schema,
} from '../../integration/http/document.ts'
import type { Draft } from './drafts.ts'
import { isValid } from './values.ts'

/** Makes of a request that the document lets through one that it does not; none where there is nothing to break. */
export interface Mutator {
  readonly name: string
  mutate(draft: Draft): readonly Draft[]
}

// An unreadable event id begins the stream with `reset`; a `Range` is ignored when it is invalid (RFC 9110, section 14.2)
// and when `If-Range` does not match (section 13.1.5); an `If-None-Match` without a current tag matches nothing.
const IGNORED_IF_INVALID = ['If-None-Match', 'Last-Event-ID', 'Range', 'If-Range']

/** Every way of being wrong; none of what they make may be answered with success. */
export const MUTATORS: readonly Mutator[] = [
  ofBody('a required field is missing', ({ required = [] }, body) =>
    required.map((name) => without(body, name)),
  ),
  ofBody('a field that nobody knows', (_, body) => UNKNOWN.map((name) => ({ ...body, [name]: 1 }))),
  ofFields('another type', () => [null, true, 7, 1.5, 'text', [], [[]], {}, { a: 1 }]),
  ofFields('a text too long', ({ maxLength, pattern }) => {
    const most = maxLength ?? Number(/\{\d+,(\d+)\}\$$/.exec(pattern ?? '')?.[1])
    return most > 0 ? ['a'.repeat(most + 1), 'é'.repeat(most + 1)] : []
  }),
  ofFields('a text too short', ({ minLength }) => ['', 'a'.repeat(Math.max(0, (minLength ?? 1) - 1))]),
  ofFields('no text', () => ['a\u0000b', 'a\ud800', '\udc00']),
  ofFields('a text of another pattern', () => [
    'a b',
    ' ',
    '$a',
    'a..b',
    'a\n',
    '../x',
    'a/b',
    'ä',
    'a'.repeat(5_000),
  ]),
  ofFields('a number too large', ({ maximum }) => (maximum === undefined ? [] : [maximum + 1, 1e300])),
  ofFields('a number too small', ({ minimum }) => (minimum === undefined ? [] : [minimum - 1, -1e300])),
  ofFields('a fraction', ({ minimum = 0 }) => [minimum + 0.5, 1e-7]),
  ofFields('a word of no list', ({ enum: words = [] }) =>
    words.flatMap((word) => [`${String(word)}x`, String(word).toUpperCase(), '']),
  ),
  ofFields('a list too long, too short or of something else', ({ items, minItems = 0, maxItems = 0 }) => {
    const item = items?.enum?.[0] ?? 'text'
    return items
      ? [Array(maxItems + 1).fill(item), Array(Math.max(0, minItems - 1)).fill(item), [item, null], [[item]]]
      : []
  }),
  ofFields('members that are none', ({ additionalProperties }) => {
    if (typeof additionalProperties !== 'object') return []
    const many = Object.fromEntries(Array.from({ length: 200 }, (_, index) => [`x-${index}`, 'a']))
    return [many, { a: 1 }, { a: null }, { a: ['a'] }, { a: 'a\nb' }, { a: 'a'.repeat(5_000) }]
  }),
  ofClosedBody({
    name: 'a body that is no object',
    mutate: (draft) =>
      draft.body === undefined
        ? []
        : ['[]', 'null', '"text"', '7', ...(isBodyRequired(draft) ? [''] : [])].map((raw) => ({
            ...draft,
            raw,
          })),
  }),
  ofText('a body that is cut off', (text) => [text.slice(0, -1), text.slice(0, text.length / 2)]),
  ofText('something behind the body', (text) => [`${text}x`, `${text}{}`, `${text},`]),
  ofClosedBody(
    ofText('a member twice', (text) =>
      [text.replace('{', `{${text.slice(1, -1)},`)].filter(() => text.length > 2),
    ),
  ),
  ofClosedBody(
    ofText('a reach for the prototype', (text) => [
      text.replace('{', '{"__proto__":{"admin":true},').replace(',}', '}'),
      text.replace('{', '{"constructor":{"prototype":{"admin":true}},').replace(',}', '}'),
    ]),
  ),
  ofClosedBody(
    ofText('nesting without end', (text) => [
      text.replace('{', `{"deep":${'['.repeat(100)}${']'.repeat(100)},`).replace(',}', '}'),
    ]),
  ),
  ofText('bytes that are no text', (text) => [
    Buffer.concat([Buffer.from(text.slice(0, -2)), Buffer.from([0xff]), Buffer.from(text.slice(-2))]),
  ]),
  {
    name: 'another content type',
    mutate: (draft) =>
      draft.body === undefined
        ? []
        : ['text/plain', 'application/xml', 'application/json\ta', 'multipart/form-data'].map((type) =>
            withHeaders(draft, { 'content-type': type }),
          ),
  },
  {
    name: 'a coding of the body',
    mutate: (draft) => (draft.body === undefined ? [] : [withHeaders(draft, { 'content-encoding': 'gzip' })]),
  },
  {
    name: 'a body where none is taken',
    mutate: (draft) =>
      draft.body === undefined && draft.method !== 'GET'
        ? [withHeaders({ ...draft, body: { surprise: 1 } }, { 'content-type': 'application/json' })]
        : [],
  },
  {
    name: 'a query that nobody knows',
    // Where no query is declared there is none that could be meant; the interface of Alertmanager ignores others, as an Alertmanager does.
    mutate: (draft) =>
      parametersOf(draft.place, 'query').length === 0 || draft.place.path.startsWith('/api/v2/')
        ? []
        : ['surprise', '__proto__', 'LIMIT', 'a[]'].map((name) => withQuery(draft, [name, '1'])),
  },
  ofQuery('a parameter twice', ({ name, schema }) => {
    const [word] = schema.enum ?? []
    const good = typeof word === 'string' ? word : String(schema.minimum ?? 'a')
    return [
      [
        [name, good],
        [name, good],
      ],
    ]
  }),
  ofQuery('a parameter that is none', ({ name, schema }) =>
    wrongTexts(schema).map((value) => [[name, value] as const]),
  ),
  {
    name: 'an id too long',
    mutate: (draft) =>
      parametersOf(draft.place, 'path').flatMap(({ name, schema: { maxLength = Infinity } }) =>
        maxLength < 4_000
          ? [{ ...draft, params: { ...draft.params, [name]: { made: 'a'.repeat(maxLength + 1), pick: 0 } } }]
          : [],
      ),
  },
  {
    name: 'nobody',
    mutate: (draft) => (isPublic(draft) ? [] : [withHeaders(draft, { 'x-user-id': [], 'x-user-roles': [] })]),
  },
  {
    name: 'another role',
    mutate: (draft) => {
      const allowed = draft.place.operation['x-roles']
      return Array.isArray(allowed)
        ? ROLES.filter((role) => !allowed.includes(role)).map((role) =>
            withHeaders(draft, { 'x-user-roles': role }),
          )
        : []
    },
  },
  {
    name: 'an identity that is to be doubted',
    mutate: (draft) =>
      isPublic(draft)
        ? []
        : [
            withHeaders(draft, { 'x-user-roles': ['admin', 'admin'] }),
            withHeaders(draft, { 'x-forwarded-for': '192.0.2.1' }),
            withHeaders(draft, { host: 'platform.example' }),
            withHeaders(draft, { authorization: 'Bearer eyJhbGciOiJub25lIn0.eyJzdWIiOiJyb290In0.' }),
          ],
  },
  {
    name: 'a header that is none',
    mutate: (draft) =>
      parametersOf(draft.place, 'header').flatMap(({ name, schema: { pattern, maxLength } }) =>
        IGNORED_IF_INVALID.includes(name) || (pattern === undefined && maxLength === undefined)
          ? []
          : // Neither an entity tag nor a key.
            [`${'k'.repeat(129)}`, ''].map((value) => withHeaders(draft, { [name]: value })),
      ),
  },
  {
    name: 'a method that the path does not have',
    mutate: (draft) =>
      ['PATCH', 'OPTIONS', 'TRACE']
        .filter((method) => method !== 'PATCH' || !['PATCH', 'PUT'].includes(draft.method))
        .map((method) => ({
          ...draft,
          method,
        })),
  },
]

const UNKNOWN = ['surprise', 'id', 'toString', 'created_at_', 'Status', '$where']

/** Judged by the schema itself: what it lets through after all is left out. */
function ofBody(
  name: string,
  change: (schema: Schema, body: Record<string, unknown>) => readonly unknown[],
): Mutator {
  return {
    name,
    mutate(draft) {
      const schema = bodySchema(draft.place.operation)
      if (!schema) return []
      return change(schema, draft.body as Record<string, unknown>)
        .filter((body) => !isValid(schema, body))
        .map((body) => ({ ...draft, body }))
    },
  }
}

function ofFields(name: string, values: (schema: Schema) => readonly unknown[]): Mutator {
  return ofBody(name, ({ properties = {} }, body) =>
    Object.entries(properties).flatMap(([field, schema]) =>
      values(schema).map((value) => ({ ...body, [field]: value })),
    ),
  )
}

function ofText(name: string, change: (text: string) => readonly (string | Buffer)[]): Mutator {
  return {
    name,
    mutate: (draft) =>
      draft.body === undefined ? [] : change(JSON.stringify(draft.body)).map((raw) => ({ ...draft, raw })),
  }
}

function isBodyRequired({ place }: Draft): boolean {
  return place.operation.requestBody?.required === true
}

/** As the mutator, but for no body that takes unknown keys, or that is a list. */
function ofClosedBody({ name, mutate }: Mutator): Mutator {
  return { name, mutate: (draft) => (hasOpenBody(draft.place.operation) ? [] : mutate(draft)) }
}

function ofQuery(name: string, values: (parameter: Parameter) => readonly Draft['query'][]): Mutator {
  return {
    name,
    mutate: (draft) =>
      parametersOf(draft.place, 'query').flatMap((parameter) =>
        values(parameter).map((query) => ({
          ...draft,
          query: [...draft.query.filter(([each]) => each !== parameter.name), ...query],
        })),
      ),
  }
}

function wrongTexts({ type, enum: words, minimum, maximum, maxLength, minLength }: Schema): string[] {
  if (words) return [`${String(words[0])}x`, '']
  if (type === 'boolean') return ['yes', '1', '']
  if (type === 'integer') {
    const beyond = [minimum === undefined ? [] : minimum - 1, maximum === undefined ? [] : maximum + 1].flat()
    return [...beyond.map(String), '1.5', '1e2', 'x', '', ' 1']
  }
  return [
    ...(maxLength !== undefined && maxLength < 4_000 ? ['a'.repeat(maxLength + 1)] : []),
    ...(minLength ? [''] : []),
  ]
}

function parametersOf({ operation }: Place, where: Parameter['in']): Parameter[] {
  return (operation.parameters ?? []).filter((each) => each.in === where)
}

function isPublic({ place }: Draft): boolean {
  return place.operation['x-roles'] === 'public'
}

function without(body: Record<string, unknown>, name: string): Record<string, unknown> {
  return Object.fromEntries(Object.entries(body).filter(([each]) => each !== name))
}

/** An empty list takes a header away. */
function withHeaders(draft: Draft, headers: Readonly<Record<string, string | string[]>>): Draft {
  const kept = Object.entries({ ...draft.headers, ...headers }).filter(
    ([, value]) => value.length > 0 || value === '',
  )
  return { ...draft, headers: Object.fromEntries(kept) }
}

function withQuery(draft: Draft, pair: readonly [string, string]): Draft {
  return { ...draft, query: [...draft.query, pair] }
}
