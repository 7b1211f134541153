let turn: Promise<void> | undefined

/**
 * Resolves at the end of the current turn of the event loop, for all callers of the turn together. Messages that are sent
 * together wake up the process at the other end once instead of once each; waking it up takes longer than sending a small
 * message.
 */
export function endOfTurn(): Promise<void> {
  turn ??= new Promise((resolve) => {
    setImmediate(() => {
      turn = undefined
      resolve()
    })
  })
  return turn
}
