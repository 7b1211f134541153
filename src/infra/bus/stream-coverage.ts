import type { StreamConfig } from '@nats-io/jetstream'
import type { Clock } from '../../kernel/clock.ts'
import { errorMessage } from '../../kernel/errors.ts'
import { type Logger, OUTAGES, OutageLength } from '../../kernel/logger.ts'
import { MINUTE, SECOND } from '../../kernel/time.ts'
import {
  type JetStream,
  type ListedStream,
  ensurePlatformStream,
  ensureReplicas,
  isOurs,
  STREAM_NAME,
  subjectsOf,
} from './jetstream.ts'
import { matcherOf } from './subjects.ts'

/** An operator's new stream is noticed after this time; until then its messages are confirmed by a flush. */
const REFRESH_MS = MINUTE
const PROBLEM_REFRESH_MS = 5 * SECOND

/** How the server confirms a message; `none`: its stream is missing, so it has to wait. */
export type Confirmation = 'acknowledgement' | 'flush' | 'none'

export interface StreamCoverageOptions {
  readonly jetStream: JetStream
  /** Subjects that a stream must store, as patterns. */
  readonly streamSubjects: readonly string[]
  /** Replicas of the platform's stream; undefined leaves a stream as it is. */
  readonly replicas?: number | undefined
  readonly clock: Clock
  readonly logger: Logger
}

/**
 * Knows which subjects the server's streams acknowledge, and creates the platform's stream where it is missing.
 * A subject of `streamSubjects` is confirmed by an acknowledgement only, as soon as the server has JetStream.
 */
export class StreamCoverage {
  readonly #options: StreamCoverageOptions
  readonly #needsStream: RegExp
  readonly #outage: OutageLength
  #acknowledged: RegExp | undefined
  #hasJetStream = false
  #unstoredSince: number | undefined
  #readAt = 0
  #reading: Promise<void> | undefined
  #failure: string | undefined
  #waitingSubject: string | undefined
  #isPrepared = false
  #replicasFailure: string | undefined
  #isReplicated = false
  /** The stream `PLATFORM`, as it answered last. */
  #known: ListedStream | undefined

  constructor(options: StreamCoverageOptions) {
    this.#options = options
    this.#needsStream = matcherOf(options.streamSubjects)
    this.#outage = new OutageLength(options.logger, 'busStream', options.clock)
  }

  /** False until the server has answered. */
  get hasJetStream(): boolean {
    return this.#hasJetStream
  }

  /** Since when the server says that it has no JetStream. */
  get unstoredSince(): number | undefined {
    return this.#unstoredSince
  }

  /** When the stream `PLATFORM` was made, if the platform has made it. */
  get streamMadeAt(): number | undefined {
    return this.#known && isOurs(this.#known) ? this.#known.madeAt : undefined
  }

  /** Why messages have to wait; undefined if none has to. */
  get problem(): string | undefined {
    const subject = this.#waitingSubject
    return this.#failure ?? (subject === undefined ? undefined : noStream(subject))
  }

  /** Asks the server, unless its last answer is recent. Rejects if it does not answer. */
  async refresh(): Promise<void> {
    if (!this.#reading && this.#isRecent()) return
    this.#reading ??= this.#read().finally(() => (this.#reading = undefined))
    await this.#reading
  }

  /** Makes the next `refresh` ask the server. */
  invalidate(): void {
    this.#acknowledged = undefined
  }

  /**
   * Replaces the leader of the platform's stream, which answers requests but acknowledges no message. A server that lost
   * the lead and got it back may number new messages wrongly, and the others then reject all of them
   * (nats-io/nats-server#8057).
   */
  async replaceLeader(): Promise<void> {
    if (!this.#isReplicated) return
    const { jetStream, logger } = this.#options
    const fields = { stream: STREAM_NAME }
    try {
      await jetStream.replaceLeader(STREAM_NAME)
      logger.warn(fields, 'bus stream acknowledged nothing; it gets another leader')
    } catch (error) {
      const reason = errorMessage(error)
      logger.warn({ ...fields, reason }, 'bus stream acknowledges nothing, and keeps its leader')
    }
  }

  confirmationOf(subject: string): Confirmation {
    if (this.#acknowledged?.test(subject)) return 'acknowledgement'
    if (!this.#hasJetStream || !this.#needsStream.test(subject)) return 'flush'
    this.#waitFor(subject)
    return 'none'
  }

  #isRecent(): boolean {
    const maxAge = this.problem === undefined ? REFRESH_MS : PROBLEM_REFRESH_MS
    return this.#acknowledged !== undefined && this.#options.clock.monotonic() - this.#readAt < maxAge
  }

  async #read(): Promise<void> {
    try {
      const streams = await this.#listStreams()
      this.#fail(streams && (await this.#ensureStream(streams)))
    } catch (error) {
      this.#fail(`the streams of the bus cannot be read: ${errorMessage(error)}`)
      throw error
    }
  }

  async #listStreams(): Promise<readonly ListedStream[] | undefined> {
    const streams = await this.#options.jetStream.listStreams()
    // A server that had JetStream gets no flush instead: the messages wait until it has it again.
    if (!streams && this.#hasJetStream) throw new Error('The server has no JetStream')
    this.#hasJetStream = streams !== undefined
    this.#unstoredSince = streams ? undefined : (this.#unstoredSince ?? this.#options.clock.now())
    const all = streams && (await this.#withSilent(streams))
    this.#remember(all ?? [])
    return all
  }

  /** Adds the platform's stream as it was known if it exists and does not answer, as after the loss of its leader. */
  async #withSilent(streams: readonly ListedStream[]): Promise<readonly ListedStream[]> {
    if (streams.some(isNamedAsOurs) || !(await this.#options.jetStream.exists(STREAM_NAME))) return streams
    if (!this.#known) throw new Error(`the stream ${STREAM_NAME} does not answer`)
    return [...streams, this.#known]
  }

  #remember(streams: readonly ListedStream[]): void {
    const acknowledging = streams.filter((config) => !config.no_ack && !config.sealed)
    const matcher = matcherOf(acknowledging.flatMap(subjectsOf))
    this.#acknowledged = matcher
    this.#isReplicated = streams.some((config) => isOurs(config) && config.num_replicas > 1)
    this.#known = streams.find(isNamedAsOurs)
    this.#readAt = this.#options.clock.monotonic()
    if (matcher.test(this.#waitingSubject ?? '')) this.#waitingSubject = undefined
  }

  /** Returns why the platform's stream cannot be created. */
  async #ensureStream(streams: readonly StreamConfig[]): Promise<string | undefined> {
    try {
      const { jetStream, streamSubjects: subjects, replicas } = this.#options
      const added = await ensurePlatformStream(jetStream, streams, { subjects, replicas })
      if (added.length > 0) await this.#reportAdded(added)
      this.#isPrepared = true
      await this.#ensureReplicas(streams)
      return undefined
    } catch (error) {
      return `the stream ${STREAM_NAME} cannot be created: ${errorMessage(error)}`
    }
  }

  /** A stream with other replicas still takes messages, so a failure is only logged, once for each reason. */
  async #ensureReplicas(streams: readonly StreamConfig[]): Promise<void> {
    const { jetStream, logger, replicas } = this.#options
    const fields = { stream: STREAM_NAME, replicas }
    try {
      const former = await ensureReplicas(jetStream, streams, replicas)
      if (former !== undefined)
        logger.info({ ...fields, former }, 'bus stream has another number of replicas')
      this.#replicasFailure = undefined
    } catch (error) {
      const reason = errorMessage(error)
      if (reason !== this.#replicasFailure)
        logger.warn({ ...fields, reason }, 'bus stream keeps its number of replicas; trying again')
      this.#replicasFailure = reason
    }
  }

  async #reportAdded(subjects: readonly string[]): Promise<void> {
    const fields = { stream: STREAM_NAME, subjects }
    if (this.#isPrepared) this.#options.logger.warn(fields, 'bus stream was missing; created again')
    else this.#options.logger.info(fields, 'bus stream created')
    await this.#listStreams()
  }

  /** Logs each reason once, until there is another. */
  #fail(failure: string | undefined): void {
    if (failure !== undefined && failure !== this.#failure) this.#warn(failure)
    this.#failure = failure
    const reason = this.problem
    if (reason !== undefined) this.#outage.fails({ reason })
    else if (this.#outage.isFailing)
      this.#options.logger.info(this.#outage.end(), OUTAGES.busStream.worksAgain)
  }

  #waitFor(subject: string): void {
    if (this.#waitingSubject === undefined && this.#failure === undefined) this.#warn(noStream(subject))
    this.#waitingSubject ??= subject
    this.#outage.fails({ reason: noStream(subject) })
  }

  #warn(reason: string): void {
    this.#options.logger.warn({ reason }, OUTAGES.busStream.fails)
  }
}

function isNamedAsOurs({ name }: StreamConfig): boolean {
  return name === STREAM_NAME
}

function noStream(subject: string): string {
  return `no stream acknowledges ${subject}: let a stream take the subject`
}
