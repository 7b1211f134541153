import { parseArgs } from 'node:util'
import { newSeed } from '../../support/random.ts'
import type { Scenario } from './scenario.ts'

/** The parsed arguments of `npm run chaos`. */
export type Request =
  | { readonly kind: 'list' }
  | { readonly kind: 'wrong'; readonly message: string }
  | {
      readonly kind: 'run'
      readonly scenarios: readonly Scenario[]
      /** Default: the number of each scenario. */
      readonly rounds: number | undefined
      /** Whether all scenarios run, each with fewer rounds. */
      readonly isBrief: boolean
      readonly seed: number
      readonly json: boolean
    }

export const USAGE = 'npm run chaos -- NAME | all [--rounds N] [--seed S] [--json]'

const OPTIONS = {
  rounds: { type: 'string' },
  seed: { type: 'string' },
  json: { type: 'boolean', default: false },
} as const

export function parseRequest(args: readonly string[], scenarios: readonly Scenario[]): Request {
  try {
    const { values, positionals } = parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true })
    if (positionals.length === 0) return { kind: 'list' }
    const chosen = scenariosNamed(positionals, scenarios)
    const rounds = values.rounds === undefined ? undefined : numberIn('--rounds', values.rounds, 1)
    const seed = values.seed === undefined ? newSeed() : numberIn('--seed', values.seed, 0)
    const isBrief = chosen === scenarios
    return { kind: 'run', scenarios: chosen, rounds, isBrief, seed, json: values.json }
  } catch (error) {
    return { kind: 'wrong', message: error instanceof Error ? error.message : String(error) }
  }
}

function scenariosNamed(names: readonly string[], scenarios: readonly Scenario[]): readonly Scenario[] {
  if (names.length === 1 && names[0] === 'all') return scenarios
  return names.map((name) => {
    const scenario = scenarios.find((each) => each.name === name)
    if (scenario) return scenario
    const known = scenarios.map((each) => each.name).join(', ')
    throw new Error(`there is no scenario ${JSON.stringify(name)}; known: ${known}, all`)
  })
}

function numberIn(option: string, text: string, least: number): number {
  const number = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN
  if (number >= least) return number
  throw new Error(`${option} must be an integer of at least ${least}, not ${JSON.stringify(text)}`)
}
