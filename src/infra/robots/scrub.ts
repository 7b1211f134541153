const REDACTED = '**redacted**'
// Shorter words of an address (send, hook, v2) are no credentials, and would tear holes into any sentence.
const SHORTEST_CREDENTIAL = 8

/** Takes out of `text` what makes up the robot's credentials: its address, the words of it, and its secret. */
export function scrub(text: string, url: string, secret: string | undefined): string {
  return credentials(url, secret).reduce((scrubbed, word) => scrubbed.replaceAll(word, REDACTED), text)
}

function credentials(url: string, secret: string | undefined): string[] {
  const { pathname, searchParams } = new URL(url)
  const words = [...pathname.split('/'), ...searchParams.values()]
  const long = words.filter((word) => word.length >= SHORTEST_CREDENTIAL)
  return [url, ...(secret ? [secret] : []), ...long, ...long.map(encodeURIComponent)]
}
