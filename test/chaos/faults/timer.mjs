// Loaded into the program before its own code: at SIGUSR2 something throws where nobody catches.
import { isMainThread } from 'node:worker_threads'

if (isMainThread) {
  process.on('SIGUSR2', () =>
    setTimeout(() => {
      throw new Error('thrown in a timer')
    }),
  )
}
