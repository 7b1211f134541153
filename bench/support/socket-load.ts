import { ClientSocket, textFrame, type SocketTarget } from './client-socket.ts'
import type { Slice } from './load.ts'
import { quantile } from './statistics.ts'

/** A request that each connection sends again and again. */
export interface Question {
  readonly text: string
  /** A text that every answer contains. */
  readonly answeredBy: string
}

const AT_ONCE = 64
// A process has a limit for its open files, and accepts are held until the slice is over.
const ACCEPTS_LIMIT = 8_000

/** Opens connections, so many at once, and drops them when the time is over: what is measured is the opening. */
export async function openSockets(target: SocketTarget, forMs: number): Promise<Slice> {
  const times: number[] = []
  const sockets: ClientSocket[] = []
  const deadline = performance.now() + forMs
  const slice = await sliceOf(times, () =>
    inLanes(async () => {
      while (performance.now() < deadline && sockets.length < ACCEPTS_LIMIT) {
        const startedAt = performance.now()
        const socket = new ClientSocket(target)
        sockets.push(socket)
        await socket.opened
        times.push(performance.now() - startedAt)
      }
    }),
  ).finally(() => sockets.forEach((socket) => socket.drop()))
  return slice
}

const held: ClientSocket[] = []

/** Opens so many connections and keeps them. */
export async function holdSockets(target: SocketTarget, count: number): Promise<void> {
  let missing = count
  await inLanes(async () => {
    while (missing-- > 0) {
      const socket = new ClientSocket(target)
      held.push(socket)
      await socket.opened
    }
  })
}

/** Drops what is held, and answers how many of them were open until now. */
export function dropSockets(): number {
  const alive = held.filter(({ isAlive }) => isAlive)
  alive.forEach((socket) => socket.drop())
  held.length = 0
  return alive.length
}

/** Keeps connections busy, each with one question under way. */
export async function askSockets(target: SocketTarget, question: Question, forMs: number): Promise<Slice> {
  const sockets: ClientSocket[] = []
  try {
    await inLanes(async () => {
      const socket = new ClientSocket(target)
      sockets.push(socket)
      await socket.opened
    })
    const times: number[] = []
    const deadline = performance.now() + forMs
    return await sliceOf(times, () =>
      Promise.all(sockets.map((socket) => keepAsking(socket, question, times, deadline))),
    )
  } finally {
    sockets.forEach((socket) => socket.drop())
  }
}

/** Resolves after the first answer past the deadline. */
function keepAsking(
  socket: ClientSocket,
  { text, answeredBy }: Question,
  times: number[],
  deadline: number,
): Promise<void> {
  const frame = textFrame(text)
  return new Promise((resolve, reject) => {
    let sentAt = 0
    const send = () => {
      sentAt = performance.now()
      socket.write(frame)
    }
    socket.onText = (answer) => {
      if (!answer.includes(answeredBy)) return reject(new Error(`a question got this answer: ${answer}`))
      const now = performance.now()
      times.push(now - sentAt)
      if (now < deadline) send()
      else resolve()
    }
    socket.onceClosed(() => reject(new Error('the server closed a connection under load')))
    send()
  })
}

function inLanes(lane: () => Promise<void>): Promise<unknown> {
  return Promise.all(Array.from({ length: AT_ONCE }, lane))
}

async function sliceOf(times: number[], work: () => Promise<unknown>): Promise<Slice> {
  const begin = performance.now()
  const idleBefore = performance.eventLoopUtilization()
  await work()
  const { utilization } = performance.eventLoopUtilization(idleBefore)
  const tookMs = performance.now() - begin
  const sorted = Float64Array.from(times).sort()
  return {
    rate: times.length / (tookMs / 1_000),
    p50: quantile(sorted, 0.5),
    p99: quantile(sorted, 0.99),
    statuses: { 101: times.length },
    generatorBusy: utilization,
  }
}
