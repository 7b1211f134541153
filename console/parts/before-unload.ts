/** From now on the browser asks before it leaves the document, until the returned function is called. */
export function askBeforeUnload(): () => void {
  // One for each call: a listener that several calls share is removed for all of them by the first that ends.
  const ask = (event: Event) => event.preventDefault()
  addEventListener('beforeunload', ask)
  return () => removeEventListener('beforeunload', ask)
}
