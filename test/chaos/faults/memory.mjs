// Loaded into the program before its own code: at SIGUSR2 it takes more memory than there is.
import { isMainThread } from 'node:worker_threads'

if (isMainThread) {
  process.on('SIGUSR2', () => {
    const taken = []
    for (;;) taken.push(Array.from({ length: 100_000 }, (_, index) => ({ index })))
  })
}
