const ask = (event: Event) => event.preventDefault()

/** From now on the browser asks before it leaves the document, until the returned function is called. */
export function askBeforeUnload(): () => void {
  addEventListener('beforeunload', ask)
  return () => removeEventListener('beforeunload', ask)
}
