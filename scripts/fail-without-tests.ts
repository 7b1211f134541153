import type { TestEvent } from 'node:test/reporters'

/**
 * A reporter that fails the run if it had no tests. Node's test runner counts a file without tests as one test that
 * passed; only the summary of each file has the number of tests in it.
 */
export default async function* failWithoutTests(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  let ran = 0
  for await (const event of events) {
    if (event.type === 'test:summary' && event.data.file !== undefined) ran += event.data.counts.tests
  }
  if (ran > 0) return
  process.exitCode = 1
  yield 'test: no test ran\n'
}
