import { parentPort } from 'node:worker_threads'
import { applyLoad, type LoadTarget } from './load.ts'

parentPort?.on('message', ({ target, forMs }: { target: LoadTarget; forMs: number }) => {
  applyLoad(target, forMs).then(
    (slice) => parentPort?.postMessage({ slice }),
    (error: unknown) => parentPort?.postMessage({ error }),
  )
})
