/** A sleep that `interrupt` ends early. An interrupt while nothing sleeps ends the next sleep at once. */
export class InterruptibleSleep {
  #isInterrupted = false
  #wakeUp: (() => void) | undefined

  interrupt(): void {
    this.#isInterrupted = true
    this.#wakeUp?.()
  }

  async sleep(milliseconds: number): Promise<void> {
    if (!this.#isInterrupted) await this.#wait(milliseconds)
    this.#wakeUp = undefined
    this.#isInterrupted = false
  }

  #wait(milliseconds: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, milliseconds)
      this.#wakeUp = () => {
        clearTimeout(timer)
        // At the end of the turn, so that all messages written in it are sent in one batch.
        setImmediate(resolve)
      }
    })
  }
}
