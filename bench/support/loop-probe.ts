// Loaded into a server by `--import`: answers on a port of its own how late the event loop was since the last question.
import { createServer } from 'node:http'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { isMainThread } from 'node:worker_threads'
import type { LoopDelay } from './probe.ts'

const RESOLUTION_MS = 1
const NANOSECONDS = 1e6

function listen(port: number): void {
  const histogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
  histogram.enable()
  // What is recorded is the time between two looks, which are due that far from each other.
  const late = (nanoseconds: number) => Math.max(0, nanoseconds / NANOSECONDS - RESOLUTION_MS)
  const server = createServer((_request, response) => {
    const delay: LoopDelay = { p99: late(histogram.percentile(99)), longest: late(histogram.max) }
    histogram.reset()
    response.end(JSON.stringify(delay))
  })
  server.listen(port, '127.0.0.1').unref()
}

if (isMainThread) listen(Number(process.env['BENCH_PROBE_PORT']))
