import type { TestEvent } from 'node:test/reporters'

/** A reporter that prints the path of each test file with a failure, one to a line. */
export default async function* failedFiles(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const printed = new Set<string>()
  for await (const event of events) {
    if (event.type !== 'test:fail') continue
    const { file: definedIn, entryFile = definedIn } = event.data
    // A test may be defined in a module of several test files, and a test file may share its process with others.
    const file = definedIn?.endsWith('.test.ts') ? definedIn : entryFile
    if (file === undefined || printed.has(file)) continue
    printed.add(file)
    yield `${file}\n`
  }
}
