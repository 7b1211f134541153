// Loaded into the program before its own code: at SIGUSR2 a promise is rejected that nobody awaits.
import { isMainThread } from 'node:worker_threads'

if (isMainThread) process.on('SIGUSR2', () => void Promise.reject(new Error('rejected and not awaited')))
