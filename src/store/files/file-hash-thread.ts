// A thread that hashes a file and ends.
import { createHash } from 'node:crypto'
import { closeSync, openSync, readSync } from 'node:fs'
import { parentPort, workerData } from 'node:worker_threads'
import { lowerThreadPriority } from './child-program.ts'

const CHUNK_BYTES = 1_048_576

const { path } = workerData as { path: string }

function hash(): string {
  const sha256 = createHash('sha256')
  const chunk = Buffer.allocUnsafe(CHUNK_BYTES)
  const file = openSync(path, 'r')
  try {
    for (let length = readSync(file, chunk); length > 0; length = readSync(file, chunk))
      sha256.update(chunk.subarray(0, length))
  } finally {
    closeSync(file)
  }
  return sha256.digest('hex')
}

lowerThreadPriority()
parentPort?.postMessage(hash())
