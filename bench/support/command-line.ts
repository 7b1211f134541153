import { parseArgs } from 'node:util'
import { parseDuration } from '../../src/kernel/time.ts'
import type { Bench } from './bench.ts'

/** What the caller asked for, in the words of `npm run bench`. */
export type Request =
  | { readonly kind: 'list' }
  | { readonly kind: 'wrong'; readonly message: string }
  | {
      readonly kind: 'run'
      readonly bench: Bench
      readonly rounds: number
      readonly sliceMs: number
      readonly json: boolean
    }

const OPTIONS = {
  rounds: { type: 'string', default: '12' },
  slice: { type: 'string', default: '1500ms' },
  json: { type: 'boolean', default: false },
} as const

export function parseRequest(args: readonly string[], benches: readonly Bench[]): Request {
  try {
    const { values, positionals } = parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true })
    const [name, ...others] = positionals
    if (name === undefined) return { kind: 'list' }
    const bench = benches.find((each) => each.name === name)
    if (!bench || others.length > 0)
      return wrong(`there is no benchmark ${JSON.stringify(positionals.join(' '))}; ${known(benches)}`)
    const rounds = /^[1-9]\d{0,3}$/.test(values.rounds) ? Number(values.rounds) : undefined
    if (rounds === undefined)
      return wrong(`--rounds must be a number from 1 on, not ${JSON.stringify(values.rounds)}`)
    const sliceMs = parseDuration(values.slice)
    if (!sliceMs)
      return wrong(`--slice must be a duration such as 1500ms or 2s, not ${JSON.stringify(values.slice)}`)
    return { kind: 'run', bench, rounds, sliceMs, json: values.json }
  } catch (error) {
    return wrong(error instanceof Error ? error.message : String(error))
  }
}

function wrong(message: string): Request {
  return { kind: 'wrong', message }
}

function known(benches: readonly Bench[]): string {
  return `known: ${benches.map(({ name }) => name).join(', ')}`
}
