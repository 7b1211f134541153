import assert from 'node:assert/strict'
import { setTimeout as pause } from 'node:timers/promises'
import { JsonLines } from './json-lines.ts'

export interface CommandResult {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

type Answer = Readonly<Record<string, unknown>>

const SYNC_EVERY_MS = 500
const STATUS_EVERY_MS = 50
const ANSWER_MS = 30_000
const NO_ANSWER: Answer = { error: 'no answer' }
// Resets the parser of the agent, which may have the half of a line from before a boot.
const RESET = Uint8Array.of(0xff)

/** The guest agent of QEMU, which runs commands inside the guest (QEMU Guest Agent Protocol Reference). */
export class GuestAgent {
  #lines: JsonLines | undefined
  #receive: (answer: Answer) => void = () => undefined

  static async connect(path: string): Promise<GuestAgent> {
    const agent = new GuestAgent()
    agent.#lines = await JsonLines.connect(path, (answer) => agent.#receive(answer))
    return agent
  }

  /** Needed after each boot. */
  async synchronize(): Promise<void> {
    for (let id = 1; ; id++) {
      const answered = new Promise<true>((resolve) => {
        this.#receive = (answer) => void (answer['return'] === id && resolve(true))
      })
      this.#lines?.send({ execute: 'guest-sync', arguments: { id } }, RESET)
      if (await Promise.race([answered, pause(SYNC_EVERY_MS, false)])) return
    }
  }

  async run(program: string, args: readonly string[]): Promise<CommandResult> {
    const { pid } = (await this.#call('guest-exec', {
      path: program,
      arg: args,
      'capture-output': true,
    })) as { pid: number }
    for (;;) {
      const status = (await this.#call('guest-exec-status', { pid })) as Answer
      if (status['exited'] === true) return resultOf(status)
      await pause(STATUS_EVERY_MS)
    }
  }

  close(): void {
    this.#lines?.close()
  }

  async #call(command: string, args: Answer): Promise<unknown> {
    const answered = new Promise<Answer>((resolve) => (this.#receive = resolve))
    this.#lines?.send({ execute: command, arguments: args })
    const answer = await Promise.race([answered, pause(ANSWER_MS, NO_ANSWER)])
    assert.ok('return' in answer, `${command}: ${JSON.stringify(answer)}`)
    return answer['return']
  }
}

function resultOf(status: Answer): CommandResult {
  const text = (name: string) => {
    const encoded = status[name]
    return typeof encoded === 'string' ? Buffer.from(encoded, 'base64').toString('utf8') : ''
  }
  return { code: Number(status['exitcode'] ?? -1), stdout: text('out-data'), stderr: text('err-data') }
}
