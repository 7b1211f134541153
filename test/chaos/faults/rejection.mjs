// Preloaded into the program: SIGUSR2 causes an unhandled rejection.
import { isMainThread } from 'node:worker_threads'

if (isMainThread) process.on('SIGUSR2', () => void Promise.reject(new Error('rejected and not awaited')))
