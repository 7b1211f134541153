import { REDACTED } from '../../kernel/secret.ts'

// Shorter words of an address (send, hook, v2) are no credentials; replacing them would make a sentence unreadable.
const MIN_CREDENTIAL_LENGTH = 8

/** Replaces the robot's credentials in a text: its address, the words of the address, and its secret. */
export function redact(text: string, url: string, secret: string | undefined): string {
  return credentialsIn(url, secret).reduce((redacted, word) => redacted.replaceAll(word, REDACTED), text)
}

/** In the address of a robot of Telegram `bot` stands before its token. */
const tokenIn = (word: string) => (word.startsWith('bot') ? [word, word.slice('bot'.length)] : [word])

function credentialsIn(url: string, secret: string | undefined): string[] {
  const { pathname, searchParams } = new URL(url)
  const words = [...pathname.split('/').flatMap(tokenIn), ...searchParams.values()]
  const long = words.filter((word) => word.length >= MIN_CREDENTIAL_LENGTH)
  return [url, ...(secret ? [secret] : []), ...long, ...long.map(encodeURIComponent)]
}
