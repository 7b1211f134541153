import type { SocketTarget } from './client-socket.ts'
import { askSockets, dropSockets, holdSockets, openSockets, type Question } from './socket-load.ts'

/** What the process of the clients is asked to do, one thing at a time. */
export type SocketTask =
  | { readonly kind: 'open'; readonly target: SocketTarget; readonly forMs: number }
  | {
      readonly kind: 'ask'
      readonly target: SocketTarget
      readonly question: Question
      readonly forMs: number
    }
  | { readonly kind: 'hold'; readonly target: SocketTarget; readonly count: number }
  | { readonly kind: 'drop' }

async function perform(task: SocketTask): Promise<unknown> {
  if (task.kind === 'open') return openSockets(task.target, task.forMs)
  if (task.kind === 'ask') return askSockets(task.target, task.question, task.forMs)
  if (task.kind === 'hold') return holdSockets(task.target, task.count)
  return dropSockets()
}

process.on('message', (task: SocketTask) => {
  perform(task).then(
    (value) => process.send?.({ value }),
    (error: unknown) => process.send?.({ error }),
  )
})
