/**
 * Does the work at the end of the turn of the event loop, with all that came in it. Answers that go out together spare
 * the system the waking up of the other side for each.
 */
export function createTurn(): (work: () => void) => void {
  let waiting: (() => void)[] = []
  const doAll = () => {
    const works = waiting
    waiting = []
    for (const work of works) work()
  }
  return (work) => {
    if (waiting.push(work) === 1) setImmediate(doAll)
  }
}
