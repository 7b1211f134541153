import assert from 'node:assert/strict'
import { test } from 'node:test'

test('a browser that shows no notifications of a page, as those of phones, offers none, and does not break what tells of an event', async () => {
  Object.assign(globalThis, {
    isSecureContext: true,
    document: { hidden: false, addEventListener: () => undefined },
    Notification: class {
      constructor() {
        throw new TypeError('Illegal constructor')
      }
    },
  })
  const { canNotify, notify } = await import('./notify.ts')
  assert.doesNotThrow(() => notify({ id: 'a', title: 't', body: 'b', open: () => undefined }))
  assert.equal(canNotify(), false)
  Object.assign(globalThis, { Notification: EventTarget })
  assert.equal(canNotify(), true)
  Object.assign(globalThis, { isSecureContext: false })
  assert.equal(canNotify(), false)
})
