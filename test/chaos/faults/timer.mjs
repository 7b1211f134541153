// Preloaded into the program: SIGUSR2 causes an uncaught exception in a timer.
import { isMainThread } from 'node:worker_threads'

if (isMainThread) {
  process.on('SIGUSR2', () =>
    setTimeout(() => {
      throw new Error('thrown in a timer')
    }),
  )
}
