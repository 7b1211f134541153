// Preloaded into the program: SIGUSR2 makes it allocate memory without end.
import { isMainThread } from 'node:worker_threads'

if (isMainThread) {
  process.on('SIGUSR2', () => {
    const taken = []
    for (;;) taken.push(Array.from({ length: 100_000 }, (_, index) => ({ index })))
  })
}
