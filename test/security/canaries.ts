import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'

/** Secrets that are made to be looked for. */
export interface Canaries {
  /** A new one. It has characters that URLs, JSON and shells write in another way around a core that they all keep. */
  plant(name: string): string
  /** A secret that was not made by `plant`. */
  add(name: string, secret: string): void
  /** Fails when a text shows one of them, in any writing. */
  assertNone(text: string, where: string): void
}

export function createCanaries(): Canaries {
  const traces = new Map<string, readonly string[]>()
  return {
    plant(name) {
      const core = `Cnry${randomBytes(12).toString('hex')}`
      traces.set(name, writingsOf(core))
      return `Zq${core}!&%+=Zq`
    },
    add: (name, secret) => void traces.set(name, writingsOf(secret)),
    assertNone(text, where) {
      for (const [name, forms] of traces) {
        for (const form of forms)
          assert.ok(!text.includes(form), `${name} is in ${where}: ${around(text, form)}`)
      }
    },
  }
}

/** As it is, backwards, in capitals, in hexadecimal, and in base64 wherever it begins within the encoded text. */
function writingsOf(secret: string): string[] {
  const bytes = Buffer.from(secret)
  const inBase64 = [0, 1, 2].map((offset) => {
    const encoded = Buffer.concat([Buffer.alloc(offset, 'x'), bytes]).toString('base64')
    // What stands at the ends depends on the neighbours.
    return encoded.slice(4, -4)
  })
  const forms = [
    secret,
    encodeURIComponent(secret),
    JSON.stringify(secret).slice(1, -1),
    secret.toUpperCase(),
  ]
  return [
    ...new Set([
      ...forms,
      ...forms.map((form) => [...form].reverse().join('')),
      bytes.toString('hex'),
      ...inBase64,
      ...inBase64.map((form) => form.replaceAll('+', '-').replaceAll('/', '_')),
    ]),
  ]
}

function around(text: string, form: string): string {
  const at = text.indexOf(form)
  return JSON.stringify(text.slice(Math.max(0, at - 80), at + form.length + 40))
}
