import assert from 'node:assert/strict'
import { test } from 'node:test'
import { describeFault } from './failure-words.ts'

test('a fault that the platform often answers is described for people, another one in its own words', () => {
  assert.equal(describeFault('is required'), 'This field is required.')
  assert.equal(describeFault('must match pattern "^/"'), 'It does not have the expected form.')
  assert.equal(describeFault('must not have fewer than 12 characters'), 'At least 12 characters are needed.')
  assert.equal(
    describeFault('must not have more than 1000 characters'),
    'At most 1,000 characters are allowed.',
  )
  assert.equal(
    describeFault('must have at least 5 different characters'),
    'At least 5 different characters are needed.',
  )
  assert.equal(describeFault('is the name of another menu'), 'is the name of another menu')
  assert.equal(describeFault(undefined), undefined)
})
