// What documentation, templates and tired people put where a key belongs, in any writing and order.
const FILLERS = `
  access admin an app application at auth authentication backend be bit bits bytes change changed changeit changeme
  changethis char characters chars default demo dev development do dummy env example fake for foo bar go here hmac
  hs in insecure insert is it jwt key keys length least local localhost long longer make me min minimum more must my
  node not of or our password phrase placeholder platform please private prod production random replace replaced
  sample safe secret secrets secure security server session sha should sign signing some string strong super test
  testing that the this to token tokens top use used value very we with you your
`
// Longest first, so that no word is taken for the beginning of another one.
const FILLER = new RegExp(
  FILLERS.trim()
    .split(/\s+/)
    .sort((a, b) => b.length - a.length)
    .join('|'),
  'g',
)
// What may be left when the words are taken away: an article, a single letter or two.
const LEFT_OVER = 4
// A key of 16 random bytes in hexadecimal has about 14.
const FEWEST_CHARACTERS = 6
const LONGEST_PERIOD = 32
const STEPS_OF_A_ROW = 0.7

/**
 * Whether a key is one that would be tried first: of few different characters, a repetition, a row of the alphabet or
 * of digits, or made of the words that documentation uses for it. A key that chance made never is.
 */
export function isGuessable(secret: string): boolean {
  return [isMonotonous, isRepetition, isRow, isPhrase].some((check) => check(secret))
}

function isMonotonous(secret: string): boolean {
  return new Set(secret).size < FEWEST_CHARACTERS
}

function isRepetition(secret: string): boolean {
  const longest = Math.min(LONGEST_PERIOD, Math.floor(secret.length / 2))
  const periods = Array.from({ length: longest }, (_, index) => index + 1)
  return periods.some((period) => secret.startsWith(secret.slice(period)))
}

function isRow(secret: string): boolean {
  let steps = 0
  for (let at = 1; at < secret.length; at++) {
    if (Math.abs(secret.charCodeAt(at) - secret.charCodeAt(at - 1)) === 1) steps++
  }
  return steps >= STEPS_OF_A_ROW * secret.length
}

function isPhrase(secret: string): boolean {
  const text = secret.toLowerCase()
  return lettersOf(text) >= secret.length / 2 && lettersOf(text.replace(FILLER, '')) <= LEFT_OVER
}

function lettersOf(text: string): number {
  return text.replace(/[^a-z]/g, '').length
}
