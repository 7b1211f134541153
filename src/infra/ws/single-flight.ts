/** Work that never overlaps with itself: a call during a run waits for that run. A failure goes to `onFailure` alone. */
export function singleFlight(
  work: () => Promise<void>,
  onFailure: (error: unknown) => void,
): () => Promise<void> {
  let running: Promise<void> | undefined
  return () => {
    running ??= work()
      .catch(onFailure)
      .finally(() => (running = undefined))
    return running
  }
}
