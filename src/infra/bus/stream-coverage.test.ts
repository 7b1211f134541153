import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { StreamConfig } from '@nats-io/jetstream'
import { silentLogger, type LogFields, type Logger } from '../../kernel/logger.ts'
import { ensurePlatformStream, STREAM_NAME } from './platform-stream.ts'
import type { JetStream, Streams } from './jetstream.ts'
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
    async replaceLeader(stream: string) {
      if (refusal !== undefined) throw new Error(refusal)
      replaced.push(stream)
    },
  }
  await ensurePlatformStream(jetStream, [], { subjects: SUBJECTS, replicas })
  const warn = (fields: LogFields, text: string) => void lines.push({ ...fields, text })
  const logger: Logger = { ...silentLogger, warn }
  const coverage = new StreamCoverage({ jetStream, streamSubjects: SUBJECTS, replicas: undefined, logger })
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
