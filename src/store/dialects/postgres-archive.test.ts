import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CopySections } from './postgres-archive.ts'

const SCRIPT = [
  'SET statement_timeout = 0;',
  'COPY public.orders (order_id, note) FROM stdin;',
  '1\tCOPY public.users (id) FROM stdin;',
  '2\t\\\\.',
  '3\t\\\\nx',
  '\\.',
  '',
  'COPY public.users (id) FROM stdin;',
  '\\.',
  'COPY "order" ("key") FROM stdin;',
  'x',
  '\\.',
  'COPY public.schema_migrations (name, breaking) FROM stdin;',
  '0001-foundation\t0',
  '0012-data-backups\t0',
  '\\.',
  '',
].join('\n')

test('the rows of each table are counted, wherever the chunks end', () => {
  for (let length = 1; length < 40; length++) {
    const sections = new CopySections('schema_migrations')
    const bytes = Buffer.from(SCRIPT)
    for (let from = 0; from < bytes.length; from += length) sections.push(bytes.subarray(from, from + length))
    assert.deepEqual(sections.rows, { orders: 3, users: 0, order: 1, schema_migrations: 2 })
    assert.deepEqual(sections.firstColumn, ['0001-foundation', '0012-data-backups'])
  }
})
