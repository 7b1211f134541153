// A listener for each call: a shared one would be removed for all calls by the first that ends.
const asking = new Set<(event: Event) => void>()

/** From now on the browser asks before it leaves the document, until the returned function is called. */
export function askBeforeUnload(): () => void {
  const ask = (event: Event) => event.preventDefault()
  asking.add(ask)
  addEventListener('beforeunload', ask)
  return () => {
    asking.delete(ask)
    removeEventListener('beforeunload', ask)
  }
}

/** Whether something would be lost with the document. */
export function hasUnsavedInput(): boolean {
  return asking.size > 0
}
