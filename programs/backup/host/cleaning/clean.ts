import { errorMessage } from '../../../../src/kernel/errors.ts'
import { BackupError } from '../../errors.ts'
import { cleanContainers } from './containers.ts'
import { cleanJournal } from './journal.ts'
import { cleanMedia } from './media.ts'
import { cleanPackages } from './packages.ts'
import { dropPageCache } from './page-cache.ts'
import type { CleaningDeps, RunStep } from './step.ts'
import { cleanTmp } from './tmp.ts'

const STEPS = {
  packages: cleanPackages,
  journal: cleanJournal,
  tmp: cleanTmp,
  media: cleanMedia,
  containers: cleanContainers,
  'page-cache': dropPageCache,
} as const satisfies Readonly<Record<string, RunStep>>

/** A step of the setting `clean`. */
export type CleaningStep = keyof typeof STEPS

/** What a step has done. */
export interface CleaningResult {
  readonly step: CleaningStep
  readonly status: 'done' | 'skipped' | 'failed'
  readonly freedBytes: number
  /** Why it was skipped or has failed, or what else there is to say. */
  readonly detail: string
}

/**
 * Runs the steps in their order; a step that fails does not stop the others. Rejects only when the signal is aborted.
 * `onResult` is called after each step.
 */
export async function clean(
  names: readonly CleaningStep[],
  deps: CleaningDeps,
  onResult: (result: CleaningResult) => void = () => undefined,
): Promise<CleaningResult[]> {
  const results: CleaningResult[] = []
  for (const step of names) {
    const result = { step, ...(await runStep(step, deps)) }
    deps.signal?.throwIfAborted()
    onResult(result)
    results.push(result)
  }
  return results
}

async function runStep(step: CleaningStep, deps: CleaningDeps): Promise<Omit<CleaningResult, 'step'>> {
  try {
    const outcome = await STEPS[step](deps)
    if ('skipped' in outcome) return { status: 'skipped', freedBytes: 0, detail: outcome.skipped }
    return { status: 'done', freedBytes: outcome.freedBytes, detail: outcome.detail ?? '' }
  } catch (error) {
    return { status: 'failed', freedBytes: 0, detail: errorMessage(error) }
  }
}

/** One line for the log and for the alert. */
export function describeCleaning({ step, status, freedBytes, detail }: CleaningResult): string {
  if (status !== 'done') return `${step}: ${status} (${detail})`
  return `${step}: freed ${freedBytes} bytes${detail === '' ? '' : ` (${detail})`}`
}

/** The failure of the cleaning; undefined when no step has failed. */
export function cleaningFailure(results: readonly CleaningResult[]): BackupError | undefined {
  const failures = results.filter(({ status }) => status === 'failed')
  if (failures.length === 0) return undefined
  return new BackupError('clean_failed', `Cleaning has failed. ${failures.map(describeCleaning).join('; ')}`)
}
