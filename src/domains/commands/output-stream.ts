import { AppError } from '../../kernel/errors.ts'
import type { Identity } from '../../kernel/identity.ts'
import { SECOND } from '../../kernel/time.ts'
import { encodeComment, encodeServerSentEvent } from '../../wire/event-stream.ts'
import type { StreamBody, StreamOutput } from '../../wire/stream.ts'
import type { CommandDeps } from './deps.ts'
import { isFinal, type ExecutionView } from './model.ts'
import type { Commands } from './service.ts'
import { readProgress, type Progress } from './store.ts'

// As often as a worker stores the output.
const POLL_MS = SECOND / 4
const COMMENT_EVERY_MS = 15 * SECOND
const STREAM_LIMIT = 100
const RETRY_AFTER_SECONDS = 5

/** Streams of the output of executions, which are read from the database: the worker may be another process. */
export class OutputStreams {
  readonly #deps: CommandDeps
  readonly #commands: Pick<Commands, 'execution'>
  #open = 0

  constructor(deps: CommandDeps, commands: Pick<Commands, 'execution'>) {
    this.#deps = deps
    this.#commands = commands
  }

  /**
   * Begins a stream, behind the place `lastEventId` if the client has one. Rejects as `Commands.execution` does, and with
   * `too_many_streams`.
   */
  async open(id: string, identity: Identity, lastEventId?: string): Promise<StreamBody> {
    const read = () => this.#commands.execution(id, identity)
    await read()
    if (this.#open >= STREAM_LIMIT) throw tooManyStreams()
    this.#open++
    return async (output) => {
      try {
        await this.#follow(output, read, parsePlace(lastEventId))
      } finally {
        this.#open--
      }
    }
  }

  /** The policy may change: each part of the output is read with the rights of the caller. */
  async #follow(output: StreamOutput, read: () => Promise<ExecutionView>, start: number): Promise<void> {
    const { clock, store } = this.#deps
    const over = overSignal(output)
    const { id } = await read()
    let lastWrite = clock.monotonic()
    for (let place = start; !output.isOver; await clock.wait(POLL_MS, over)) {
      const { status, total } = (await readProgress(store.read, id)) ?? REMOVED
      if (isFinal(status)) return writeEnd(output, await read(), place)
      const isNews = (total ?? 0) > place
      if (isNews) place = writeOutput(output, await read(), place)
      const isSilent = clock.monotonic() - lastWrite >= COMMENT_EVERY_MS
      if (isSilent) output.write(encodeComment())
      if (isNews || isSilent) lastWrite = clock.monotonic()
      // A slow client gets what there is then.
      await output.drained()
    }
  }
}

/** An execution that was pruned. */
const REMOVED: Progress = { status: 'expired', cancelledBy: null, total: null }

function writeEnd(output: StreamOutput, execution: ExecutionView, place: number): void {
  const end = writeOutput(output, execution, place)
  const { status, exitCode: exit_code, signal } = execution
  const data = JSON.stringify({ status, exit_code, signal })
  output.write(encodeServerSentEvent({ id: String(end), event: 'end', data }))
}

/** The id of an event is the number of characters up to its end. Returns that of the last event. */
function writeOutput(
  output: StreamOutput,
  { output: text, outputTotal }: ExecutionView,
  place: number,
): number {
  const first = outputTotal - text.length
  if (place >= outputTotal) return place
  const skipped = Math.max(0, first - place)
  const news = text.slice(Math.max(0, place - first))
  const data = JSON.stringify({ text: news, ...(skipped > 0 && { skipped }) })
  output.write(encodeServerSentEvent({ id: String(outputTotal), event: 'output', data }))
  return outputTotal
}

/** A client that has received no event may send an empty id. Another one begins again. */
function parsePlace(lastEventId: string | undefined): number {
  return lastEventId !== undefined && /^\d{1,15}$/.test(lastEventId) ? Number(lastEventId) : 0
}

function overSignal(output: StreamOutput): AbortSignal {
  const over = new AbortController()
  void output.over.then(() => over.abort())
  return over.signal
}

function tooManyStreams(): AppError {
  const message = `There are ${STREAM_LIMIT} streams of output already; try again later.`
  return new AppError('unavailable', 'too_many_streams', message, { retryAfterSeconds: RETRY_AFTER_SECONDS })
}
