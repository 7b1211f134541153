import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createTcpServer, type AddressInfo } from 'node:net'
import { constants } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { AnswerReader } from '../../bench/support/answer-reader.ts'
import type { Bench } from '../../bench/support/bench.ts'
import { parseRequest } from '../../bench/support/command-line.ts'
import { SEQUENCE, type LoadTarget, type Slice } from '../../bench/support/load.ts'
import { loadContestants } from '../../bench/support/load-contestants.ts'
import { startLoadGenerator } from '../../bench/support/load-generator.ts'
import { isMet, measureTable, ratio } from '../../bench/support/measure.ts'
import { orderDuring } from '../../bench/support/orders-during.ts'
import { peakMegabytes } from '../../bench/support/resident.ts'
import { interleave, type Contestant } from '../../bench/support/rounds.ts'
import { startServer } from '../../bench/support/servers.ts'
import { quantile, spreadOf } from '../../bench/support/statistics.ts'
import { callSteadily } from '../../bench/support/steady-load.ts'
import { eventually } from '../support/eventually.ts'

const SLICE: Slice = { rate: 100, p50: 1, p99: 2, statuses: { 200: 100 }, generatorBusy: 0.1 }

test('a quantile lies between its neighbours, in proportion', () => {
  assert.equal(quantile([10, 20, 30, 40, 50], 0.5), 30)
  assert.equal(quantile([10, 20], 0.25), 12.5)
  assert.equal(quantile([7], 0.99), 7)
  assert.equal(quantile([1, 2, 3, 4], 1), 4)
})

test('the middle and the quartiles do not depend on the order of the values, which stays as it is', () => {
  const values = [9, 1, 5, 3, 7]
  assert.deepEqual(spreadOf(values), { median: 5, lowerQuartile: 3, upperQuartile: 7 })
  assert.deepEqual(values, [9, 1, 5, 3, 7])
})

test('answers are separated, in whatever pieces the bytes arrive', () => {
  const answers =
    'HTTP/1.1 201 Created\r\nContent-Length: 5\r\n\r\nhello' +
    'HTTP/1.1 204 No Content\r\nX-A: b\r\n\r\n' +
    'HTTP/1.1 429 Too Many Requests\r\ncontent-length: 8\r\n\r\n\r\n\r\n\r\n\r\n' +
    'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n'
  for (const size of [1, 2, 3, 7, 50, answers.length]) {
    const statuses: number[] = []
    const reader = new AnswerReader((status) => statuses.push(status))
    for (let at = 0; at < answers.length; at += size) reader.read(Buffer.from(answers.slice(at, at + size)))
    assert.deepEqual(statuses, [201, 204, 429, 200], `in pieces of ${size}`)
  }
})

test('an answer without its length is an error', () => {
  const reader = new AnswerReader(() => assert.fail('reported an answer'))
  const chunked = Buffer.from('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n')
  assert.throws(() => reader.read(chunked), /without Content-Length.*HTTP\/1\.1 200 OK/)
})

test('each connection has one request under way, and no two requests carry the same number', async () => {
  const seen = { ids: [] as string[], tokens: new Set<unknown>(), sockets: new Set<unknown>() }
  await using server = await listening(async (request, response) => {
    const { id } = JSON.parse(await text(request)) as { id: string }
    seen.ids.push(id)
    seen.tokens.add(request.headers['x-token'])
    seen.sockets.add(request.socket)
    answer(response, 201, id)
  })
  const slice = await load({
    ...server.target,
    connections: 5,
    method: 'POST',
    path: '/things',
    headers: { 'x-token': 'secret' },
    body: JSON.stringify({ id: SEQUENCE }),
  })
  assert.equal(new Set(seen.ids).size, seen.ids.length)
  assert.deepEqual(slice.statuses, { 201: seen.ids.length })
  assert.ok(seen.ids.length >= 5)
  assert.ok(seen.ids.every((id) => /^\d{12}$/.test(id)))
  assert.deepEqual([...seen.tokens], ['secret'])
  assert.equal(seen.sockets.size, 5)
  assert.ok(slice.p50 <= slice.p99)
})

test('answers of every status are counted, the rate over all of them', async () => {
  let count = 0
  await using server = await listening((_request, response) => answer(response, count++ % 2 ? 503 : 200, 'x'))
  const { statuses, rate } = await load({ ...server.target, connections: 1, method: 'GET', path: '/' })
  assert.ok(rate > 0)
  assert.equal((statuses[200] ?? 0) + (statuses[503] ?? 0), count)
  assert.ok((statuses[503] ?? 0) > 0)
})

test('a connection that ends under load ends the measurement with an error', async () => {
  const server = createTcpServer((socket) => void socket.once('data', () => socket.end()))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  await using _closing = { [Symbol.asyncDispose]: async () => void server.close() }
  const { port } = server.address() as AddressInfo
  await assert.rejects(load({ port, connections: 2, method: 'GET', path: '/' }), /closed a connection/)
})

test('a refused call at a constant rate ends the measurement, not the process', async () => {
  await using server = await listening((_request, response) => answer(response, 500, 'x'))
  const next = () => ({ method: 'POST', path: '/orders', body: {} }) as const
  const calling = callSteadily({ ...server.target, perSecond: 100, forMs: 100, next })
  await assert.rejects(calling, /POST \/orders: 500/)
})

test('a task that fails while orders are written ends the measurement, not the process', async () => {
  const generator = {
    apply: () => new Promise<Slice>((resolve) => void setTimeout(resolve, 50, SLICE)),
    async [Symbol.asyncDispose]() {},
  }
  const fail = () => Promise.reject(new Error('the backup has failed'))
  await assert.rejects(orderDuring({ generator, port: 1 }, 50, fail), /the backup has failed/)
})

test('a server that ends while its memory is watched ends the measurement', async () => {
  const child = spawn(process.execPath, ['--version'], { stdio: 'ignore' })
  await once(child, 'exit')
  const endless = new Promise(() => undefined)
  await assert.rejects(peakMegabytes(child.pid ?? 0, endless), /ENOENT/)
})

test('every contestant has its slice in every round, after rounds that do not count', async () => {
  const order: string[] = []
  const contestants = ['a', 'b', 'c'].map((name): Contestant => ({
    name,
    run: async (forMs) => {
      order.push(name)
      return { ...SLICE, rate: forMs }
    },
  }))
  const rounds = await interleave(contestants, options(4))
  assert.equal(rounds.length, 4)
  for (const round of rounds) assert.deepEqual([...round.keys()].sort(), ['a', 'b', 'c'])
  assert.equal(order.length % 3, 0)
  assert.ok(order.length > 12, 'there is a warm-up')
  const neighbours = new Set(order.slice(1).map((name, index) => `${order[index]}${name}`))
  assert.ok(neighbours.has('ab') && neighbours.has('ba'), 'the order changes')
})

test('a contestant that refuses a single request fails the benchmark by name', async () => {
  const generator = { apply: async () => ({ ...SLICE, statuses: { 201: 99, 429: 1 } }) }
  const target = { port: 1, connections: 1, method: 'GET', path: '/' }
  const refusing = loadContestants(generator, { ours: target })
  await assert.rejects(interleave(refusing, options(1)), /ours gave answers other than 2xx: 1 × 429/)
})

test('an interrupted benchmark ends before its next slice', async () => {
  const interrupted = new AbortController()
  const run = async () => {
    interrupted.abort(new Error('interrupted'))
    return SLICE
  }
  const contestants = [
    { name: 'a', run },
    { name: 'b', run: () => assert.fail('began another slice') },
  ]
  await assert.rejects(interleave(contestants, { ...options(1), signal: interrupted.signal }), /interrupted/)
})

test('a ratio is taken within each round, not between the sums', () => {
  const round = (ours: number, echo: number) =>
    new Map([
      ['ours', { ...SLICE, rate: ours }],
      ['echo', { ...SLICE, rate: echo }],
    ])
  const rounds = [round(50, 100), round(5, 10), round(900, 1_000)]
  assert.equal(ratio(rounds, 'ours', 'echo', ({ rate }) => rate).median, 0.5)
})

test('a measure is judged by its median, on the side that its bound names', () => {
  const at = (median: number) => ({ median, lowerQuartile: 0, upperQuartile: 9 })
  assert.ok(isMet({ what: 'rate', values: at(0.55), must: { atLeast: 0.55 } }))
  assert.ok(!isMet({ what: 'rate', values: at(0.54), must: { atLeast: 0.55 } }))
  assert.ok(!isMet({ what: 'p99', values: at(3.1), must: { atMost: 3 } }))
  assert.ok(isMet({ what: 'without a bound', values: at(7) }))
  const table = measureTable([
    { what: 'rate', values: at(0.71), must: { atLeast: 0.55 }, better: { atLeast: 0.7 } },
    { what: 'p99', values: at(3.1), must: { atMost: 3 } },
  ])
  assert.match(table, /^rate +0\.71 +0\.00 – 9\.00 +≥ 0\.55 +≥ 0\.7 +better$/m)
  assert.match(table, /^p99 +3\.10 .*missed$/m)
})

test('a program that is not installed ends the benchmark, not the process', async () => {
  const starting = startServer({ command: ['no-such-program'], port: 1, cwd: '/' })
  await assert.rejects(starting, /no-such-program ended instead of serving:\n.*ENOENT/)
})

// A server that ignores SIGTERM, in a scope that the first signal does not end.
const BENCHMARK = `
  import { interruption } from '${import.meta.resolve('../../bench/support/interruption.ts')}'
  import { diskDirectory, startServer } from '${import.meta.resolve('../../bench/support/servers.ts')}'
  import { freePort } from '${import.meta.resolve('../support/loopback.ts')}'
  const signal = interruption()
  signal.addEventListener('abort', () => console.log('interrupted'))
  const port = await freePort()
  const { path: cwd } = diskDirectory()
  const program = "process.on('SIGTERM', () => {}); require('node:net').createServer().listen(" + port + ", '127.0.0.1')"
  const { pid } = await startServer({ command: [process.execPath, '-e', program], port, cwd })
  console.log(JSON.stringify({ pid, cwd }))
  setInterval(() => {}, 1_000)`

for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  test(`${name} interrupts a benchmark, and a second one leaves neither a server nor a directory`, async () => {
    const child = spawn(process.execPath, ['--input-type=module', '-e', BENCHMARK], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const ended = once(child, 'exit')
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
    const { pid, cwd } = JSON.parse((await lines.next()).value ?? '') as { pid: number; cwd: string }
    child.kill(name)
    assert.equal((await lines.next()).value, 'interrupted')
    child.kill(name)
    assert.deepEqual(await ended, [128 + constants.signals[name], null])
    assert.ok(!existsSync(cwd))
    // A process that nobody has waited for has no `exe`.
    await eventually('the server has ended', () => !existsSync(`/proc/${pid}/exe`))
  })
}

const NOTHING: Bench = {
  name: 'nothing',
  title: 'Nothing',
  summary: 'measures nothing',
  run: async () => [],
}
const OTHER: Bench = { ...NOTHING, name: 'other' }
const DEFAULTS = { kind: 'run', rounds: 12, sliceMs: 1_500, small: false, json: false, docs: false }

test('the command line names a benchmark, or asks for the list', () => {
  assert.equal(parseRequest([], [NOTHING]).kind, 'list')
  const args = ['nothing', '--rounds', '8', '--slice', '2s', '--json', '--chart', 'charts']
  assert.deepEqual(parseRequest(args, [NOTHING, OTHER]), {
    ...DEFAULTS,
    benches: [NOTHING],
    rounds: 8,
    sliceMs: 2_000,
    json: true,
    chart: 'charts',
  })
})

test('the command line names several benchmarks, or all of them', () => {
  const all = { ...DEFAULTS, benches: [NOTHING, OTHER], docs: true }
  assert.deepEqual(parseRequest(['all', '--docs'], [NOTHING, OTHER]), all)
  assert.deepEqual(parseRequest(['nothing', 'other', '--docs'], [NOTHING, OTHER]), all)
})

for (const args of [
  ['other'],
  ['nothing', 'more'],
  ['all', 'nothing'],
  ['nothing', '--small', '--docs'],
  ['nothing', '--chart'],
  ['nothing', '--rounds', '0'],
  ['nothing', '--slice', '5'],
  ['--no'],
]) {
  test(`the command line refuses ${args.join(' ')}`, () => {
    assert.equal(parseRequest(args, [NOTHING]).kind, 'wrong')
  })
}

test('an unknown benchmark is one line on standard error and exit code 2', async () => {
  const program = join(import.meta.dirname, '../../bench/run.ts')
  const child = spawn(process.execPath, [program, 'nope'], { stdio: ['ignore', 'pipe', 'pipe'] })
  const [[code], output, errors] = await Promise.all([
    once(child, 'close') as Promise<[number | null]>,
    text(child.stdout),
    text(child.stderr),
  ])
  assert.deepEqual([code, output], [2, ''])
  assert.match(errors, /^bench: there is no benchmark "nope"; known: .*orders.*\n$/)
})

function options(rounds: number) {
  return { rounds, sliceMs: 10, small: false, signal: new AbortController().signal, onSlice() {}, note() {} }
}

/** A short slice of load from the generator's own thread. */
async function load(target: LoadTarget): Promise<Slice> {
  await using generator = startLoadGenerator()
  return await generator.apply(target, 50)
}

async function listening(
  handle: (request: IncomingMessage, response: ServerResponse) => void | Promise<void>,
): Promise<AsyncDisposable & { readonly target: { readonly port: number } }> {
  const server = createServer((request, response) => void handle(request, response))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  return {
    target: { port },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

function answer(response: ServerResponse, status: number, body: string): void {
  response.writeHead(status, { 'content-length': body.length }).end(body)
}
