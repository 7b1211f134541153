/** The text of a successful answer. Rejects on any other status: its text must not become a page. */
export async function readReport(url: string): Promise<string> {
  const answer = await fetch(url)
  const text = await answer.text()
  if (answer.status === 200) return text
  throw new Error(`GET ${url}: expected the status 200, got ${answer.status}: ${text}`)
}
