import assert from 'node:assert/strict'
import { test } from 'node:test'

test('a browser that shows no notifications of a page, as those of phones, does not break what tells of an event', async () => {
  Object.assign(globalThis, {
    document: { hidden: false, addEventListener: () => undefined },
    Notification: class {
      constructor() {
        throw new TypeError('Illegal constructor')
      }
    },
  })
  const { notify } = await import('./notify.ts')
  assert.doesNotThrow(() => notify({ id: 'a', title: 't', body: 'b', open: () => undefined }))
})
