import { statSync } from 'node:fs'
import { createServer } from 'node:net'
import { listenAddress, type ListenAddress } from '../../../config/address-types.ts'
import type { Config } from '../../../config/config.ts'
import { isOnlyGateway } from '../../../config/value-types.ts'
import type { BusFacts } from '../../../infra/bus/inspect-bus.ts'
import { endOf, ENDS_SOON_MS, readTls } from '../../../infra/http/tls-certificate.ts'
import { errorMessage } from '../../../kernel/errors.ts'
import { shellWord } from '../../../kernel/text.ts'
import { MINUTE, SECOND, toRfc3339 } from '../../../kernel/time.ts'
import { busFault } from '../../commands/bus-hint.ts'
import { replayCommand, type OldestPending } from '../../../domains/messages/index.ts'
import type { BusStreamMark, LostSpan } from '../../../store/work/marks.ts'
import { LISTEN_FAILURES } from '../../modules/module.ts'
import { listenersOf, readOwn, isPlainForOthers, type OwnListener } from '../../own-listeners.ts'
import { fault, fine, skipped, warning, type Check, type CheckFinding } from '../check.ts'
import type { DatabaseState } from '../database-state.ts'

const NEARLY_FULL = 0.9
// docs/specification.md, Limits: a body has up to 1 MiB, and becomes the payload of a message.
const PAYLOAD_BYTES = 1_024 ** 2

/** Whether the bus can be reached, and keeps what the platform sends. */
export const busCheck: Check = {
  name: 'bus',
  run: async ({ loaded: { config }, clock, bus, knownState }) => {
    const state = await knownState()
    try {
      const facts = await bus()
      return [
        fine(facts.address, `NATS ${facts.version}`),
        payload(facts),
        ...jetStream(facts, state.busStream),
        ...lostMessages(facts, state.busStream),
        ...undelivered(state, clock.now()),
      ]
    } catch (error) {
      const { urls, text } = config.bus.server
      return [fault(text, ...busFault(urls.reveal(), errorMessage(error)))]
    }
  },
}

/** What the bus has lost or not stored, until somebody has sent it again. */
function lostMessages({ jetStream: facts }: BusFacts, stream: BusStreamMark | undefined): CheckFinding[] {
  const { lost, madeAt = 0, unstoredSince } = stream ?? {}
  return [
    ...(lost ? [lossOf(lost, madeAt)] : []),
    // The platform has not seen yet that the bus stores messages again.
    ...(facts && unstoredSince !== undefined ? [unstored({ since: unstoredSince })] : []),
  ]
}

function lossOf({ isUnstored, ...span }: LostSpan, madeAt: number): CheckFinding {
  if (isUnstored) return unstored(span)
  return fault('messages', 'bus_lost', { at: toRfc3339(madeAt), command: replayCommand(span) })
}

function unstored({ since, until }: { readonly since: number; readonly until?: number }): CheckFinding {
  const times = { since: toRfc3339(since), until: until === undefined ? 'now' : toRfc3339(until) }
  const command = replayCommand({ since, ...(until !== undefined && { until }) })
  return fault('messages', 'bus_unstored', { ...times, command })
}

// deploy/prometheus: the alarm "events wait".
const LATE_MESSAGE_MS = MINUTE

/** The messages that a server which answers has not taken. */
function undelivered(
  { oldestPending: oldest, deadMessages = 0 }: Partial<DatabaseState>,
  now: number,
): CheckFinding[] {
  return [
    ...(oldest && now - oldest.createdAt > LATE_MESSAGE_MS ? [waitingMessage(oldest)] : []),
    ...(deadMessages > 0 ? [warning('dead messages', 'messages_dead', { count: deadMessages })] : []),
  ]
}

function waitingMessage({ subject, createdAt, lastError }: OldestPending): CheckFinding {
  const values = { subject, since: toRfc3339(createdAt) }
  return lastError === null
    ? fault('waiting messages', 'messages_unsent', values)
    : fault('waiting messages', 'messages_wait', { ...values, reason: lastError })
}

function payload({ maxPayloadBytes }: BusFacts): CheckFinding {
  if (maxPayloadBytes >= PAYLOAD_BYTES) return fine('max_payload', `${maxPayloadBytes} bytes`)
  return warning('max_payload', 'bus_payload_small', { bytes: maxPayloadBytes, needed: PAYLOAD_BYTES })
}

function jetStream({ jetStream: facts }: BusFacts, stream: BusStreamMark | undefined): CheckFinding[] {
  if (!facts) return [withoutJetStream(stream)]
  const { usedBytes, limitBytes, missingSubjects, streams } = facts
  return [
    fill('jetstream', usedBytes, limitBytes),
    ...streams.map(({ name, bytes, limitBytes: limit, acknowledges }) =>
      acknowledges ? fill(`stream ${name}`, bytes, limit) : fault(`stream ${name}`, 'stream_silent'),
    ),
    ...(missingSubjects.length > 0
      ? [skipped('streams', `none for ${missingSubjects.join(', ')} yet: the platform creates it`)]
      : []),
  ]
}

function withoutJetStream(stream: BusStreamMark | undefined): CheckFinding {
  if (stream?.unstoredSince === undefined) return warning('jetstream', 'jetstream_off')
  const { unstoredSince: since } = stream
  const command = replayCommand({ since })
  return warning('jetstream', 'jetstream_off_since', { since: toRfc3339(since), command })
}

function fill(subject: string, used: number, limit: number | undefined): CheckFinding {
  if (limit === undefined) return fine(subject, `${used} bytes stored, no limit but that of the server`)
  if (used >= NEARLY_FULL * limit) return warning(subject, 'stream_full', { used, limit })
  return fine(subject, `${used} of ${limit} bytes stored`)
}

// docs/guide/operating.md: clocks within a second; docs/specification.md, Identity: tokens may come from 5 s ahead.
const CLOCK_WARNING_MS = 1_000
const CLOCK_ERROR_MS = 5_000

/** Compares this host's clock with every other one that the platform depends on. */
export const clockCheck: Check = {
  name: 'clock',
  run: async ({ clock, knownState, bus }) => {
    const now = clock.now()
    const { schema, clockMs } = await knownState()
    const jetStream = (await bus().catch(() => undefined))?.jetStream
    return [
      compareWithHistory(now, schema?.applied.at(-1)?.appliedAt),
      compareClocks('database', clock.now(), clockMs),
      compareClocks('bus', clock.now(), jetStream?.clockMs),
    ]
  },
}

/** A host that has lost its clock starts in the past. */
function compareWithHistory(now: number, newest: number | undefined): CheckFinding {
  if (newest === undefined || now >= newest) return fine('host', toRfc3339(now))
  return fault('host', 'clock_before_migration', { now: toRfc3339(now), migratedAt: toRfc3339(newest) })
}

function compareClocks(subject: string, now: number, other: number | undefined): CheckFinding {
  if (other === undefined) return skipped(subject, 'has no clock that can be asked')
  const difference = Math.round(now - other)
  const differenceMs = Math.abs(difference)
  const code = difference < 0 ? 'clock_ahead' : 'clock_behind'
  if (differenceMs >= CLOCK_ERROR_MS) return fault(subject, code, { differenceMs })
  if (differenceMs >= CLOCK_WARNING_MS) return warning(subject, code, { differenceMs })
  return fine(subject, `${differenceMs} ms ${difference < 0 ? 'ahead of' : 'behind'} this host`)
}

// A platform whose database does not answer says so after 5 s.
const ANSWER_MS = 7 * SECOND
// A process records that it serves right after its listeners are open; the database may be busy meanwhile.
const RECORDED_AFTER_MS = 5 * SECOND

/** Each address is free, or the platform itself listens there, with the configuration as it is now. */
export const portsCheck: Check = {
  name: 'ports',
  run: ({ loaded: { config, file }, clock }) =>
    Promise.all(listenersOf(config).map((listener) => listenerFinding(listener, file, clock.now()))),
}

async function listenerFinding(
  listener: OwnListener,
  file: string | undefined,
  now: number,
): Promise<CheckFinding> {
  const { setting, address } = listener
  const subject = `${setting} ${listenAddress.format(address)}`
  if (address.port === 0) return skipped(subject, 'the system chooses a port at the start')
  const running = await platformAt(listener)
  if (running) return runningPlatform(subject, running, file === undefined ? 0 : now - changedAt(file))
  const code = await listenFailure(address)
  if (code === undefined) return fine(subject, 'free')
  // A platform without free file descriptors, or one that is too busy, ends the connection.
  if (code === 'EADDRINUSE') return fault(subject, 'port_in_use', { setting })
  const failure = LISTEN_FAILURES[code] ?? { reason: code, remedy: 'remove the cause' }
  return fault(subject, 'port_unusable', { ...failure, error: code, setting })
}

function changedAt(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0
}

/** `unchangedMs`: for how long its configuration file was not changed; 0 without a file. */
function runningPlatform(subject: string, running: HealthAnswer, unchangedMs: number): CheckFinding {
  const { version, modules = [], status, uptime_seconds: uptime = 0 } = running
  if (status === 'failing') return fault(subject, 'platform_failing', { version, modules })
  if (unchangedMs <= 0 || unchangedMs > uptime * SECOND)
    return fine(subject, `a platform answers: ${version}, ${modules.join(', ')}, ${status}`)
  return warning(subject, 'platform_outdated', { version, modules, status })
}

/** The members of `GET /health` that the checks read. */
interface HealthAnswer {
  readonly version: string
  readonly modules?: readonly string[]
  readonly status: string
  readonly uptime_seconds?: number
  readonly read_only?: boolean
}

/** What the platform that listens there answers; undefined if none does. */
async function platformAt(listener: OwnListener): Promise<HealthAnswer | undefined> {
  try {
    const answer = (await readOwn(listener, '/health', ANSWER_MS)) as HealthAnswer
    return answer.modules && answer
  } catch {
    return undefined
  }
}

/** A listener of this configuration at which a platform answers that has recorded in its database that it serves. */
export function findRecordedListener(config: Config): Promise<OwnListener | undefined> {
  return findOwnListener(
    config,
    ({ modules = [], status, read_only: readOnly, uptime_seconds: uptime = 0 }) => {
      const isRecorded = uptime * SECOND >= RECORDED_AFTER_MS
      return !isOnlyGateway(modules) && readOnly !== true && status !== 'failing' && isRecorded
    },
  )
}

/** A listener of this configuration at which a platform answers. */
export async function findOwnListener(
  config: Config,
  accepts: (answer: HealthAnswer) => boolean = () => true,
): Promise<OwnListener | undefined> {
  const listeners = listenersOf(config).filter(({ address }) => address.port !== 0)
  const answers = await Promise.all(listeners.map(platformAt))
  return listeners.find((_, index) => {
    const answer = answers[index]
    return answer !== undefined && accepts(answer)
  })
}

/** Listens for a moment; resolves with the code of the error, undefined if there is none. */
function listenFailure({ host, port }: ListenAddress): Promise<string | undefined> {
  const { promise, resolve } = Promise.withResolvers<string | undefined>()
  const server = createServer()
  server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
  server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(undefined)))
  return promise
}

/** Whether passwords and tokens are encrypted on their way to other hosts, and for how long. */
export const tlsCheck: Check = {
  name: 'tls',
  run: async ({ loaded: { config }, clock }) =>
    (['api', 'gateway'] as const)
      .filter((module) => config.modules.includes(module))
      .map((module) => tlsOf(config, module, clock.now())),
}

function tlsOf(config: Config, module: 'api' | 'gateway', now: number): CheckFinding {
  const { listen, tls: files } = config[module]
  const subject = `${module}.listen ${listenAddress.format(listen)}`
  if (isPlainForOthers(config, module)) return warning(subject, 'tls_missing', { module })
  try {
    const context = readTls(`${module}.tls`, files)
    if (!context) return fine(subject, withoutTls(config))
    const end = endOf(context)
    const at = toRfc3339(end)
    if (end - now > ENDS_SOON_MS) return fine(subject, `its certificate ends at ${at}`)
    const finding = end <= now ? fault : warning
    return finding(subject, 'tls_ends', { at, file: String(files.certFile), module })
  } catch (error) {
    return fault(subject, 'tls_unusable', { reason: errorMessage(error), module, ...pairOf(files) })
  }
}

/** Both files, and a command that prints the same line twice if they belong together. */
function pairOf({ certFile = '', keyFile = '' }: Config['api']['tls']) {
  const commands = [
    `openssl x509 -in ${shellWord(certFile)} -noout -pubkey`,
    `openssl pkey -in ${shellWord(keyFile)} -pubout`,
  ]
  return {
    cert: certFile,
    key: keyFile,
    command: commands.map((command) => `${command} | sha256sum`).join('; '),
  }
}

/** Without the setting the clients of a proxy share the limits of its address (docs/guide/operating.md). */
function withoutTls({ proxy: { clientAddressFrom } }: Config): string {
  const proxies = clientAddressFrom.map(({ text }) => text).join(', ')
  return proxies === ''
    ? 'without TLS, on a loopback address; for a proxy set proxy.client_address_from'
    : `without TLS, behind the proxy ${proxies}`
}
