import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { StreamConfig } from '@nats-io/jetstream'
import { systemClock } from '../../kernel/clock.ts'
import { silentLogger, type LogFields, type Logger } from '../../kernel/logger.ts'
import { ensurePlatformStream, STREAM_NAME, type JetStream, type Streams } from './jetstream.ts'
import { StreamCoverage } from './stream-coverage.ts'

const SUBJECTS = ['order.>']

/** A server with one stream, as the platform creates it. */
async function openCoverage({ replicas, changes = {}, refusal }: ServerOptions) {
  const replaced: string[] = []
  const lines: (LogFields & { readonly text: string })[] = []
  const configs: StreamConfig[] = []
  const streams: Streams = {
    add: async (config) => configs.push({ ...config, ...changes } as StreamConfig),
    update: () => Promise.reject(new Error('nothing is to be updated')),
  }
  const jetStream: JetStream = {
    streams,
    listStreams: async () => configs,
    exists: async () => configs.length > 0,
    async replaceLeader(stream: string) {
      if (refusal !== undefined) throw new Error(refusal)
      replaced.push(stream)
    },
  }
  await ensurePlatformStream(jetStream, [], { subjects: SUBJECTS, replicas })
  const warn = (fields: LogFields, text: string) => void lines.push({ ...fields, text })
  const logger: Logger = { ...silentLogger, warn }
  const coverage = new StreamCoverage({
    jetStream,
    streamSubjects: SUBJECTS,
    replicas: undefined,
    clock: systemClock,
    logger,
  })
  await coverage.refresh()
  await coverage.replaceLeader()
  return { replaced, lines }
}

interface ServerOptions {
  readonly replicas: number
  /** To the configuration of the stream. */
  readonly changes?: Partial<StreamConfig>
  readonly refusal?: string
}

test('the leader of the stream of the platform is replaced, with a line in the log', async () => {
  const { replaced, lines } = await openCoverage({ replicas: 3 })
  assert.deepEqual(replaced, [STREAM_NAME])
  assert.match(lines[0]?.text ?? '', /^bus stream acknowledged nothing/)
})

test('a stream on one server keeps its leader, and so does one of an operator', async () => {
  for (const options of [{ replicas: 1 }, { replicas: 3, changes: { description: 'of an operator' } }])
    assert.deepEqual(await openCoverage(options), { replaced: [], lines: [] })
})

test('the reason of a refusal is in the log', async () => {
  const { lines } = await openCoverage({ replicas: 3, refusal: 'no permission' })
  assert.deepEqual(lines, [
    {
      stream: STREAM_NAME,
      reason: 'no permission',
      text: 'bus stream acknowledges nothing, and keeps its leader',
    },
  ])
})

/** A server whose list leaves out the stream of the platform while it does not answer. */
function openServer() {
  const server = { names: [] as string[], isSilent: false, isOff: false, created: 0 }
  const configs: StreamConfig[] = []
  const jetStream: JetStream = {
    streams: {
      async add(config) {
        server.created += 1
        server.names.push(config.name)
        configs.push(config as StreamConfig)
      },
      update: () => Promise.reject(new Error('nothing is to be updated')),
    },
    listStreams: async () => {
      if (server.isOff) return undefined
      return server.isSilent ? [] : configs.filter(({ name }) => server.names.includes(name))
    },
    exists: async (stream) => server.names.includes(stream),
    replaceLeader: () => Promise.reject(new Error('no leader is to be replaced')),
  }
  const open = () =>
    new StreamCoverage({
      jetStream,
      streamSubjects: SUBJECTS,
      replicas: undefined,
      clock: systemClock,
      logger: silentLogger,
    })
  return { server, open }
}

test('a stream that does not answer is not created again, and messages still wait for its acknowledgement', async () => {
  const { server, open } = openServer()
  const coverage = open()
  await coverage.refresh()
  server.isSilent = true
  coverage.invalidate()
  await coverage.refresh()
  assert.equal(coverage.confirmationOf('order.created'), 'acknowledgement')
  assert.deepEqual([server.created, coverage.problem], [1, undefined])
  await assert.rejects(open().refresh(), /PLATFORM does not answer/)
  assert.equal(server.created, 1)
})

test('a server without JetStream stores nothing from its first answer until it has it', async () => {
  const { server, open } = openServer()
  const coverage = open()
  assert.equal(coverage.unstoredSince, undefined)
  const readings: (number | undefined)[] = []
  for (const isOff of [true, true, false]) {
    server.isOff = isOff
    coverage.invalidate()
    await coverage.refresh()
    readings.push(coverage.unstoredSince)
  }
  const [first, second, third] = readings
  assert.ok(first !== undefined && first <= Date.now())
  assert.deepEqual([second, third], [first, undefined])
})

test('a stream that was deleted is created again', async () => {
  const { server, open } = openServer()
  const coverage = open()
  await coverage.refresh()
  server.names.length = 0
  coverage.invalidate()
  await coverage.refresh()
  assert.deepEqual([server.created, coverage.problem], [2, undefined])
})
