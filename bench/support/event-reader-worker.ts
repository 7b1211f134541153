// Opens many streams of events and counts what comes; posts once when all have begun, and a report when asked for it.
import { once } from 'node:events'
import { connect } from 'node:net'
import { parentPort, workerData } from 'node:worker_threads'
import type { EventReport } from './event-readers.ts'

const { port, count } = workerData as { port: number; count: number }

const REQUEST = `GET /events HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nX-User-ID: bench\r\nX-User-Roles: admin\r\n\r\n`
const MARK = '\ndata: '
const TIME = /"time":"([^"]+)"/g
// Parsing what all of them get would take more time than the server does.
const SAMPLED = 10

const counts: number[] = Array.from({ length: count }, () => 0)
let delaysMs: number[] = []

async function openReader(index: number): Promise<void> {
  const socket = connect(port, '127.0.0.1')
  // A mark may be divided over two chunks.
  let tail = ''
  socket.on('data', (chunk: Buffer) => {
    const end = chunk.subarray(-MARK.length + 1).toString('latin1')
    const seam = tail + chunk.subarray(0, MARK.length - 1).toString('latin1')
    counts[index] = (counts[index] ?? 0) + marksIn(chunk) + (seam.includes(MARK) ? 1 : 0)
    tail = end
    if (index < SAMPLED) takeDelays(chunk)
  })
  socket.write(REQUEST)
  await once(socket, 'data')
}

function marksIn(chunk: Buffer): number {
  let marks = 0
  for (let at = chunk.indexOf(MARK); at !== -1; at = chunk.indexOf(MARK, at + MARK.length)) marks++
  return marks
}

function takeDelays(chunk: Buffer): void {
  const now = Date.now()
  for (const [, time = ''] of chunk.toString('latin1').matchAll(TIME)) delaysMs.push(now - Date.parse(time))
}

parentPort?.on('message', () => {
  parentPort?.postMessage({ counts: [...counts], delaysMs } satisfies EventReport)
  counts.fill(0)
  delaysMs = []
})

for (const index of counts.keys()) await openReader(index)
parentPort?.postMessage('begun')
