// Checks the rule of dependency, and that the tool which does so has seen every module.
import { globSync } from 'node:fs'
import { join } from 'node:path'
import { cruise, type ICruiseResult, type IReporterOutput, type IViolation } from 'dependency-cruiser'
import configuration from '../.dependency-cruiser.mjs'
import { teachUsing } from './swc-using.ts'

const ROOMS = ['src', 'bin', 'console', 'programs', 'test', 'bench', 'scripts']
// With less than this it is not the repository that was looked at.
const FEWEST_MODULES = 10

export interface LayerReport {
  readonly modules: number
  /** One line each; none means that all is well. */
  readonly problems: readonly string[]
}

teachUsing()

/** Checks the modules below `root`. */
export async function checkLayers(root: string, fewestModules = FEWEST_MODULES): Promise<LayerReport> {
  const files = ROOMS.flatMap((room) => globSync(`${room}/**/*.{ts,tsx}`, { cwd: root }))
  if (files.length < fewestModules) return tooFew(files.length, fewestModules)
  const { modules, summary } = cruiseResult(await cruise(files, cruiseOptions(root), resolveOptions()))
  const seen = new Set(modules.map((module) => module.source))
  return {
    modules: files.filter((file) => seen.has(file)).length,
    problems: [...files.filter((file) => !seen.has(file)).map(unseen), ...summary.violations.map(describe)],
  }
}

function cruiseOptions(root: string) {
  const { forbidden = [], options = {} } = configuration
  const { enhancedResolveOptions: _, ...others } = options
  return { ...others, baseDir: root, validate: true, ruleSet: { forbidden } }
}

function resolveOptions() {
  return configuration.options?.enhancedResolveOptions ?? {}
}

function cruiseResult({ output }: IReporterOutput): ICruiseResult {
  if (typeof output === 'string')
    throw new Error('dependency-cruiser answered with text instead of its result.')
  return output
}

function tooFew(modules: number, fewest: number): LayerReport {
  return { modules, problems: [`saw ${modules} modules where at least ${fewest} were expected`] }
}

function unseen(file: string): string {
  return `${file}: was not read`
}

function describe({ from, to, rule, cycle }: IViolation): string {
  const reached = cycle ? cycle.map((each) => each.name).join(' → ') : to
  const comment = configuration.forbidden?.find((each) => each.name === rule.name)?.comment ?? ''
  return `${from} → ${reached}: ${rule.name}. ${comment}`
}

if (import.meta.main) {
  const { modules, problems } = await checkLayers(join(import.meta.dirname, '..'))
  for (const problem of problems) console.error(problem)
  console.log(`layers: ${modules} modules, problems: ${problems.length}`)
  if (problems.length > 0) process.exitCode = 1
}
