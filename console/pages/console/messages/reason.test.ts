import assert from 'node:assert/strict'
import { test } from 'node:test'
import { plainReason } from './reason.ts'

const REASONS = [
  ['JetStream: message size exceeds maximum allowed (10054)', 'tooLarge'],
  ['maximum payload exceeded', 'tooLarge'],
  ['JetStream: header size exceeds maximum allowed of 64k (10097)', 'headersTooLarge'],
  ['Permissions Violation for Publish to "shop.opened"', 'notPermitted'],
  ['no stream acknowledges shop.opened', 'noStream'],
  ["illegal argument: 'subject' cannot contain a space", 'badSubject'],
  ['connection closed', undefined],
] as const

for (const [error, reason] of REASONS) {
  test(`"${error}" is ${reason}`, () => {
    assert.equal(plainReason(error), reason)
  })
}
