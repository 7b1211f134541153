// Checks the dependency rules (ARCHITECTURE.md), and that dependency-cruiser has read every module.
import { globSync } from 'node:fs'
import { join } from 'node:path'
import { cruise, type ICruiseResult, type IReporterOutput, type IViolation } from 'dependency-cruiser'
import configuration from '../.dependency-cruiser.mjs'
import { supportUsing } from './swc-using.ts'

const DIRECTORIES = ['src', 'bin', 'console', 'programs', 'clients', 'test', 'bench', 'scripts']
// Fewer modules mean that the wrong directory was checked.
const FEWEST_MODULES = 10

export interface LayerReport {
  readonly modules: number
  /** One line for each problem. */
  readonly problems: readonly string[]
}

supportUsing()

/** Checks the modules below `root`. */
export async function checkLayers(root: string, fewestModules = FEWEST_MODULES): Promise<LayerReport> {
  const files = DIRECTORIES.flatMap((directory) => globSync(`${directory}/**/*.{ts,tsx}`, { cwd: root }))
  if (files.length < fewestModules) return tooFew(files.length, fewestModules)
  const { modules, summary } = cruiseResult(await cruise(files, cruiseOptions(root), resolveOptions()))
  const seen = new Set(modules.map((module) => module.source))
  return {
    modules: files.filter((file) => seen.has(file)).length,
    problems: [...files.filter((file) => !seen.has(file)).map(notRead), ...summary.violations.map(describe)],
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
    throw new Error('dependency-cruiser returned text; expected a result object.')
  return output
}

function tooFew(modules: number, fewest: number): LayerReport {
  return { modules, problems: [`read ${modules} modules, expected at least ${fewest}`] }
}

function notRead(file: string): string {
  return `${file}: dependency-cruiser did not read this module`
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
