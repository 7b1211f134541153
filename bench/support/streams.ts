import { setTimeout as pause } from 'node:timers/promises'
import { jetstreamManager, type JetStreamManager } from '@nats-io/jetstream'
import { connect } from '@nats-io/transport-node'
import type { NatsServer } from '../../test/support/nats.ts'

const LOOK_EVERY_MS = 20

export function emptyStreams(nats: NatsServer): Promise<void> {
  return withStreams(nats, async (streams) => {
    for await (const { config } of streams.list()) await streams.purge(config.name)
  })
}

/** The platform makes it once it is connected. */
export function untilStreamIsThere(nats: NatsServer): Promise<void> {
  return withStreams(nats, async (streams) => {
    while ((await streams.names().next()).length === 0) await pause(LOOK_EVERY_MS)
  })
}

async function withStreams(
  { url }: NatsServer,
  use: (streams: JetStreamManager['streams']) => Promise<void>,
): Promise<void> {
  const connection = await connect({ servers: url })
  try {
    await use((await jetstreamManager(connection)).streams)
  } finally {
    await connection.close()
  }
}
