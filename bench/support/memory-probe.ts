// Loaded into a server by `--import`: answers on a port of its own after a garbage collection.
import { createServer } from 'node:http'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { isMainThread } from 'node:worker_threads'

// V8 then keeps no free pages: how many it keeps otherwise depends on what ran before.
const TO_THE_LAST_PAGE = { type: 'major', execution: 'sync', flavor: 'last-resort' }

function listen(port: number): void {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as (options: typeof TO_THE_LAST_PAGE) => void
  const server = createServer((_request, response) => {
    collect(TO_THE_LAST_PAGE)
    response.end()
  })
  server.listen(port, '127.0.0.1').unref()
}

if (isMainThread) listen(Number(process.env['BENCH_PROBE_PORT']))
