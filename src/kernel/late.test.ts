import assert from 'node:assert/strict'
import { test } from 'node:test'
import { late } from './late.ts'

class Counter {
  #count = 0

  increment(by: number): number {
    return (this.#count += by)
  }
}

test('a late port passes calls on to its implementation, and names what a call before its creation needs', () => {
  const port = late<Counter>(() => counter)
  assert.throws(() => port.increment(1), /'counter'/)
  const counter = new Counter()
  assert.equal(port.increment(2), 2)
  assert.equal(counter.increment(1), 3)
})
