export interface SlotsOptions {
  /** Tasks that run at once. */
  readonly concurrency: number
  /** Tasks that may wait; one more is refused with what `full` makes. */
  readonly queueLimit: number
  readonly full: () => Error
}

/** Runs a task when a slot is free, in the order of arrival. */
export type Slots = <T>(task: () => Promise<T>) => Promise<T>

/** A bounded number of tasks at once with a bounded queue before them. */
export function createSlots({ concurrency, queueLimit, full }: SlotsOptions): Slots {
  const waiting: (() => void)[] = []
  let running = 0

  const acquire = async () => {
    if (running < concurrency) {
      running++
      return
    }
    if (waiting.length >= queueLimit) throw full()
    await new Promise<void>((resolve) => waiting.push(resolve))
  }

  // A slot goes from hand to hand: it is free only when nobody waits.
  const release = () => {
    const next = waiting.shift()
    if (next) next()
    else running--
  }

  return async (task) => {
    await acquire()
    try {
      return await task()
    } finally {
      release()
    }
  }
}
