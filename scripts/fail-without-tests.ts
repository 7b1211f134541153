import type { TestEvent } from 'node:test/reporters'

/**
 * A reporter that prints nothing unless no test ran at all, which the runner itself calls a success: a file without
 * tests counts as one that passed. Only the summary of a single file tells what ran in it.
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
