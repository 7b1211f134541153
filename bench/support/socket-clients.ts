import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { SocketTarget } from './client-socket.ts'
import type { Slice } from './load.ts'
import type { Question } from './socket-load.ts'
import type { SocketTask } from './socket-worker.ts'

const WORKER = fileURLToPath(new URL('./socket-worker.ts', import.meta.url))

/** Clients of WebSockets in a process of their own, which does one thing at a time. */
export interface SocketClients extends AsyncDisposable {
  /** Opens connections for that time, and drops them. */
  open(target: SocketTarget, forMs: number): Promise<Slice>
  /** Asks the same again and again over 64 connections for that time. */
  ask(target: SocketTarget, question: Question, forMs: number): Promise<Slice>
  /** Opens so many connections and keeps them. */
  hold(target: SocketTarget, count: number): Promise<void>
  /** Drops the connections that were kept; rejects unless so many are still open. */
  drop(count: number): Promise<void>
}

export function startSocketClients(): SocketClients {
  const child = fork(WORKER, { serialization: 'advanced' })
  const over = new AbortController()
  child.once('exit', () => over.abort(new Error('the process of the clients has ended')))
  const perform = async <T>(task: SocketTask): Promise<T> => {
    child.send(task)
    const [outcome] = (await once(child, 'message', over)) as [{ value: T } | { error: unknown }]
    if ('error' in outcome) throw outcome.error
    return outcome.value
  }
  return {
    open: (target, forMs) => perform({ kind: 'open', target, forMs }),
    ask: (target, question, forMs) => perform({ kind: 'ask', target, question, forMs }),
    hold: (target, count) => perform({ kind: 'hold', target, count }),
    async drop(count) {
      const alive = await perform<number>({ kind: 'drop' })
      if (alive < count) throw new Error(`${count - alive} of ${count} connections have ended by themselves`)
    },
    async [Symbol.asyncDispose]() {
      if (over.signal.aborted) return
      child.kill()
      await once(child, 'exit')
    },
  }
}
