/**
 * Runs tasks at the end of the turn of the event loop in which they were queued. Responses that are written together
 * wake up the other side once instead of once each.
 */
export function createEndOfTurnQueue(): (task: () => void) => void {
  let queued: (() => void)[] = []
  const runAll = () => {
    const tasks = queued
    queued = []
    for (const task of tasks) task()
  }
  return (task) => {
    if (queued.push(task) === 1) setImmediate(runAll)
  }
}
