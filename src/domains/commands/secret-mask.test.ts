import assert from 'node:assert/strict'
import { test } from 'node:test'
import { chanceOf } from '../../../test/support/random.ts'
import { MAX_OUTPUT_BYTES, RunOutput } from './run-output.ts'
import { SecretMask } from './secret-mask.ts'

function masked(secrets: readonly string[], parts: readonly string[]): string {
  const mask = new SecretMask(secrets)
  return parts.map((part) => mask.write(part)).join('') + mask.end()
}

test('a secret is masked wherever its text is cut', () => {
  const text = 'before hunter2, hunter2 after hunter'
  for (let first = 0; first <= text.length; first++)
    for (let second = first; second <= text.length; second++) {
      const parts = [text.slice(0, first), text.slice(first, second), text.slice(second)]
      assert.equal(
        masked(['hunter2'], parts),
        'before **redacted**, **redacted** after hunter',
        JSON.stringify(parts),
      )
    }
})

test('one character at a time gives the same as the whole text, for secrets that overlap', (t) => {
  const chance = chanceOf(t)
  for (let round = 0; round < 500; round++) {
    const word = (maximum: number) =>
      Array.from({ length: chance.between(1, maximum) }, () => chance.pick(['a', 'b'])).join('')
    const secrets = [word(4), word(6)]
    const text = word(30)
    // Secrets that touch each other may become one mask or several.
    const [inParts, whole] = [[...text], [text]].map((parts) =>
      masked(secrets, parts).replaceAll(/(?:\*\*redacted\*\*)+/g, '*'),
    )
    assert.equal(inParts, whole, JSON.stringify({ secrets, text }))
    for (const secret of secrets) assert.ok(!whole?.includes(secret), JSON.stringify({ secrets, text }))
  }
})

test('a secret is masked in JSON and in a URL too', () => {
  assert.equal(masked(['a"b c'], ['{"k":"a\\"b c"} ?k=a%22b%20c']), '{"k":"**redacted**"} ?k=**redacted**')
})

test('a secret is masked in Base64, in both alphabets, at each alignment, wherever it is cut', () => {
  // With digits that differ between the alphabets.
  const secret = 'hunter2\u00ff>>>???~~~'
  for (const alphabet of ['base64', 'base64url'] as const)
    for (const before of ['', 'a', 'ab', 'abc'])
      for (const after of ['', 'x', 'xy', 'xyz']) {
        const text = Buffer.from(`${before}${secret}${after}`).toString(alphabet)
        for (let at = 0; at <= text.length; at++) {
          const output = masked([secret], [text.slice(0, at), text.slice(at)])
          const shown = output.split('**redacted**').join('')
          // At each end one digit has bits of what is around the secret.
          const others =
            Buffer.from(before).toString(alphabet).length + Buffer.from(after).toString(alphabet).length
          assert.ok(output.includes('**redacted**') && shown.length <= others + 4, `${text} ${output}`)
        }
      }
})

test('a short secret masks no digits of Base64', () => {
  assert.equal(masked(['a'], ['YQ== Y']), 'YQ== Y')
})

test('an empty secret masks nothing', () => {
  assert.equal(masked([''], ['text']), 'text')
})

test('a line of a secret is masked on its own, except for a short one', () => {
  const text = 'first-line second-line } "first-line\\n"'
  const expected = '**redacted** **redacted** } "**redacted**\\n"'
  assert.equal(masked(['first-line\nsecond-line\r\n}\n'], [text]), expected)
})

const write = (output: RunOutput, stream: 'stdout' | 'stderr', text: string | Uint8Array) =>
  output.write(stream, typeof text === 'string' ? Buffer.from(text) : text)

test('each stream is masked on its own, and both together', () => {
  const output = new RunOutput(['hunter2'])
  write(output, 'stdout', 'a hun')
  write(output, 'stderr', 'b hunt')
  write(output, 'stdout', 'ter2.')
  write(output, 'stderr', 'er2.')
  output.end()
  assert.ok(!output.snapshot.text.includes('hunt'), output.snapshot.text)
  const crossing = new RunOutput(['hunter2'])
  write(crossing, 'stdout', 'x')
  write(crossing, 'stdout', 'hunter')
  write(crossing, 'stderr', '2')
  crossing.end()
  assert.ok(!crossing.snapshot.text.includes('hunter2'), crossing.snapshot.text)
})

test('a secret that is a part of the mask is masked once', () => {
  const output = new RunOutput(['a', 'red'])
  write(output, 'stdout', 'x a red.')
  write(output, 'stderr', 'a')
  output.end()
  assert.equal(output.snapshot.text, 'x **redacted** **redacted**.**redacted**')
})

test('a character that is cut between two parts arrives whole; NUL and invalid bytes are replaced', () => {
  const output = new RunOutput([])
  const bytes = Buffer.from('é€')
  for (const byte of bytes) write(output, 'stdout', Uint8Array.of(byte))
  write(output, 'stdout', Uint8Array.of(0, 0xff))
  output.end()
  assert.equal(output.snapshot.text, 'é€\uFFFD\uFFFD')
})

test('the last 64 KiB are kept, from the beginning of a character', () => {
  const output = new RunOutput([])
  for (let line = 0; line < 4_000; line++) write(output, 'stdout', `line ${line} €€€€€€\n`)
  output.end(['It was ended.'])
  const { text, total } = output.snapshot
  assert.ok(Buffer.byteLength(text) <= MAX_OUTPUT_BYTES && Buffer.byteLength(text) > MAX_OUTPUT_BYTES - 4)
  assert.ok(total > text.length)
  assert.ok(text.isWellFormed() && !text.includes('\uFFFD'))
  assert.ok(text.endsWith('line 3999 €€€€€€\n[platform] It was ended.\n'))
})
