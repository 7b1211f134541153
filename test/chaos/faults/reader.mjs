// Preloaded into the program: every worker thread fails at its start.
import { isMainThread } from 'node:worker_threads'

if (!isMainThread) throw new Error('the reading thread is broken')
