// Loaded into the program before its own code: every thread but the first one dies at once.
import { isMainThread } from 'node:worker_threads'

if (!isMainThread) throw new Error('the reading thread is broken')
