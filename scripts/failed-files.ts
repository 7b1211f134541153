import type { TestEvent } from 'node:test/reporters'

/** A reporter that prints the path of each test file with a failure, one to a line. */
export default async function* failedFiles(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const printed = new Set<string>()
  for await (const event of events) {
    if (event.type !== 'test:fail') continue
    // A test may be defined in a module of several test files.
    const { file: definedIn, entryFile: file = definedIn } = event.data
    if (file === undefined || printed.has(file)) continue
    printed.add(file)
    yield `${file}\n`
  }
}
