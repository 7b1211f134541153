import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Domain } from '../wire/domain.ts'
import { DOMAINS } from './domains.ts'

for (const { name, events, eventReaders = [], eventReadersOf = {} } of DOMAINS as readonly Domain[]) {
  test(`the domain ${name} declares who may read its events on the live stream`, () => {
    assert.equal(eventReaders.length > 0, Object.keys(events).length > 0)
    if (eventReaders.length > 0) assert.ok(eventReaders.includes('admin'))
    for (const [subject, readers] of Object.entries(eventReadersOf)) {
      assert.ok(Object.values(events).includes(subject), subject)
      assert.ok(readers.includes('admin'), subject)
    }
  })
}
