import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BODIES } from '../../api/generated.ts'
import {
  bodyOf,
  defaultsOf,
  formFields,
  longestField,
  partsOf,
  placeFaults,
  type FormSchema,
} from './form-fields.ts'

const SCHEMA: FormSchema = {
  type: 'object',
  required: ['reason', 'count'],
  properties: {
    matchers: {
      type: 'object',
      properties: { source: { type: 'string', maxLength: 128 }, title: { type: 'string' } },
    },
    reason: { type: 'string', maxLength: 1_024 },
    count: { type: 'integer' },
    dry_run: { type: 'boolean' },
    level: { type: 'string', enum: ['high', 'low'] },
    ends_at: { type: 'string', format: 'date-time', maxLength: 64 },
    assignee: { type: ['string', 'null'], maxLength: 64 },
  },
}
const FIELDS = formFields(SCHEMA)

test('each member of a schema is a field of its kind, also those of an object in it', () => {
  assert.deepEqual(
    FIELDS.map(({ path, kind, isRequired }) => `${path} ${kind}${isRequired ? ' required' : ''}`),
    [
      'matchers.source text',
      'matchers.title text',
      'reason long_text required',
      'count number required',
      'dry_run flag',
      'level choice',
      'ends_at time',
      'assignee text',
    ],
  )
})

test('the fields of an object with a title stand together, those before and behind it by themselves', () => {
  const pathsOf = (folds: Record<string, string>) =>
    partsOf(FIELDS, folds).map(({ title, fields }) => [title, fields.length])
  assert.deepEqual(pathsOf({}), [[undefined, FIELDS.length]])
  assert.deepEqual(pathsOf({ matchers: 'Alerts' }), [
    ['Alerts', 2],
    [undefined, FIELDS.length - 2],
  ])
  assert.equal(partsOf(formFields(BODIES.createSilence), { repeat: 'Repeats' }).at(-1)?.title, 'Repeats')
})

test('a body of the API makes a form', () => {
  const paths = formFields(BODIES.createSilence).map(({ path }) => path)
  assert.deepEqual(paths.slice(0, 2), ['matchers.source', 'matchers.alarm_id'])
  assert.ok(paths.includes('ends_at'))
})

test('a body has the values in their types, and nothing for an empty field', () => {
  const values = {
    'matchers.source': 'a*',
    reason: '',
    count: '7',
    dry_run: 'false',
    ends_at: '2026-01-31T12:00Z',
  }
  assert.deepEqual(bodyOf(FIELDS, values), {
    matchers: { source: 'a*' },
    count: 7,
    dry_run: false,
    ends_at: '2026-01-31T12:00:00.000Z',
  })
})

test('a fault stands at its field, one of an object at its first field, any other above the form', () => {
  const faults = [
    { path: 'count', code: 'required', message: 'is required' },
    { path: 'matchers', code: 'required', message: 'is required' },
    { path: 'created_by', code: 'left_out', message: 'is not allowed' },
  ]
  const { byPath, others } = placeFaults(FIELDS, faults)
  assert.deepEqual([...byPath.keys()], ['count', 'matchers.source'])
  assert.deepEqual(others, [faults[2]])
})

test('several choices are a list in the body, and none of them leaves the field out', () => {
  const roles = { type: 'array', items: { type: 'string', enum: ['admin', 'auditor'] } }
  const fields = formFields({ properties: { roles, old_password: { type: 'string' } } })
  assert.deepEqual(
    fields.map(({ kind }) => kind),
    ['choices', 'secret'],
  )
  assert.deepEqual(bodyOf(fields, { roles: 'admin,auditor' }), { roles: ['admin', 'auditor'] })
  assert.deepEqual(bodyOf(fields, { roles: '' }), {})
})

test('a form begins with the defaults of its schema; a field that is never answered is a secret', () => {
  const fields = formFields({
    properties: {
      params: {
        properties: {
          unit: { type: 'string', default: 'nginx' },
          count: { type: 'integer', default: 2 },
          force: { type: 'boolean', default: false },
          key: { type: 'string', writeOnly: true },
        },
      },
    },
  })
  assert.deepEqual(defaultsOf(fields), {
    'params.unit': 'nginx',
    'params.count': '2',
    'params.force': 'false',
  })
  assert.equal(fields.at(-1)?.kind, 'secret')
})

test('the field with the longest value is the one that makes a body too large', () => {
  const text = { type: 'string' }
  const fields = formFields({
    properties: { title: text, params: { properties: { note: text } }, body: text },
  })
  assert.equal(longestField(fields, { title: 'aa', 'params.note': 'aaaa', body: 'aaa' })?.path, 'params.note')
  assert.equal(longestField([], {}), undefined)
})

test('an amount is entered as it is shown, and sent in cents; another text is left to the API', () => {
  const fields = formFields({ properties: { amount_cents: { type: 'integer' } } })
  const centsOf = (amount_cents: string) => Object.values(bodyOf(fields, { amount_cents }))[0] as unknown
  const amounts = {
    '49.90': 4_990,
    '49,9': 4_990,
    ' 49 ': 4_900,
    '0.07': 7,
    '19.99': 1_999,
    '1,299.00': 129_900,
    '1,250': 125_000,
    '1,234,567.8': 123_456_780,
    '1.299,00': 129_900,
  }
  for (const [text, cents] of Object.entries(amounts)) assert.equal(centsOf(text), cents, text)
  const others = ['1.005', '49.999', '1.250', '1,2345', '12,34,567', '-1', '¥20', 'ten', '99999999999999.99']
  for (const text of others) assert.equal(centsOf(text), text)
})
