import { parseArgs } from 'node:util'
import { parseDuration } from '../../src/kernel/time.ts'
import type { Bench } from './bench.ts'

/** What the caller asked for, in the words of `npm run bench`. */
export type Request =
  | { readonly kind: 'list' }
  | { readonly kind: 'wrong'; readonly message: string }
  | RunRequest

export interface RunRequest {
  readonly kind: 'run'
  readonly benches: readonly Bench[]
  readonly rounds: number
  readonly sliceMs: number
  readonly small: boolean
  readonly json: boolean
  /** Where charts go. */
  readonly chart?: string
  /** Whether tables and charts of the documents are made anew. */
  readonly docs: boolean
}

export const USAGE =
  'npm run bench -- NAME|all [--rounds 12] [--slice 1500ms] [--small] [--json] [--chart DIR] [--docs]'

const OPTIONS = {
  rounds: { type: 'string', default: '12' },
  slice: { type: 'string', default: '1500ms' },
  small: { type: 'boolean', default: false },
  json: { type: 'boolean', default: false },
  chart: { type: 'string' },
  docs: { type: 'boolean', default: false },
} as const

export function parseRequest(args: readonly string[], benches: readonly Bench[]): Request {
  try {
    const { values, positionals } = parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true })
    if (positionals.length === 0) return { kind: 'list' }
    const { small, json, chart, docs } = values
    if (small && docs) return wrong('--docs with --small would publish figures that say nothing')
    return {
      kind: 'run',
      benches: parseNames(positionals, benches),
      rounds: parseRounds(values.rounds),
      sliceMs: parseSlice(values.slice),
      small,
      json,
      ...(chart !== undefined && { chart }),
      docs,
    }
  } catch (error) {
    return wrong(error instanceof Error ? error.message : String(error))
  }
}

function wrong(message: string): Request {
  return { kind: 'wrong', message }
}

function parseNames(names: readonly string[], benches: readonly Bench[]): readonly Bench[] {
  if (names.length === 1 && names[0] === 'all') return benches
  return names.map((name) => {
    const bench = benches.find((each) => each.name === name)
    if (!bench)
      throw new Error(`there is no benchmark ${JSON.stringify(name)}; known: ${benchNames(benches)}`)
    return bench
  })
}

function benchNames(benches: readonly Bench[]): string {
  return ['all', ...benches.map(({ name }) => name)].join(', ')
}

function parseRounds(text: string): number {
  if (!/^[1-9]\d{0,3}$/.test(text))
    throw new Error(`--rounds must be a number from 1 on, not ${JSON.stringify(text)}`)
  return Number(text)
}

function parseSlice(text: string): number {
  const sliceMs = parseDuration(text)
  if (!sliceMs)
    throw new Error(`--slice must be a duration such as 1500ms or 2s, not ${JSON.stringify(text)}`)
  return sliceMs
}
