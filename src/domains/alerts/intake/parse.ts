import { fieldFault, type ErrorDetail, type ErrorValues, type FaultCode } from '../../../kernel/errors.ts'
import { parseRfc3339 } from '../../../kernel/time.ts'
import { sortedLabels } from './labels.ts'
import type { PrometheusAlert } from './report.ts'

/** The result of checking one alert of a request. */
export type Parsed = PrometheusAlert | Fault

/** What is wrong with an alert. */
export interface Fault {
  readonly fault: ErrorDetail
}

export function isFault(parsed: Parsed): parsed is Fault {
  return 'fault' in parsed
}

/**
 * Checks one alert that Prometheus sends; `path` is its place in the request. Unknown keys are ignored, and `status` is one
 * of them.
 */
export function parseAlert(given: unknown, path: string): Parsed {
  return parsedBy(() => checkedAlert(given, path))
}

/** Checks one alert that an Alertmanager sends. Its status alone says whether it has ended; without one its end does. */
export function parseNotified(given: unknown, path: string): Parsed {
  return parsedBy(() => {
    const alert = checkedAlert(given, path)
    const status = statusOf(given, path)
    if (status === undefined) return alert
    return { ...alert, endsAt: undefined, isResolved: status === 'resolved' }
  })
}

function parsedBy(check: () => PrometheusAlert): Parsed {
  try {
    return check()
  } catch (error) {
    if (error instanceof InvalidAlert) return { fault: error.detail }
    throw error
  }
}

class InvalidAlert extends Error {
  readonly detail: ErrorDetail

  constructor(path: string, code: FaultCode, values?: ErrorValues) {
    const detail = fieldFault(path, code, values)
    super(`${path} ${detail.message}`)
    this.detail = detail
  }
}

function checkedAlert(given: unknown, path: string): PrometheusAlert {
  if (!isObject(given)) throw new InvalidAlert(path, 'wrong_type', { expected: 'an object' })
  const labels = sortedLabels(textsOf(given['labels'], `${path}.labels`))
  if (labels.length === 0)
    throw new InvalidAlert(`${path}.labels`, 'invalid', {
      reason: 'must have at least one label with a value',
    })
  if (labels.some(([name]) => name === ''))
    throw new InvalidAlert(`${path}.labels`, 'invalid', { reason: 'must not have an empty name' })
  const annotations = textsOf(given['annotations'] ?? {}, `${path}.annotations`)
  const startsAt = timeOf(given['startsAt'], `${path}.startsAt`)
  const endsAt = timeOf(given['endsAt'], `${path}.endsAt`)
  if (startsAt !== undefined && endsAt !== undefined && endsAt < startsAt)
    throw new InvalidAlert(`${path}.endsAt`, 'invalid', { reason: 'must not be before startsAt' })
  const generatorUrl = given['generatorURL']
  return {
    labels,
    annotations,
    startsAt,
    endsAt,
    isResolved: false,
    ...(typeof generatorUrl === 'string' && { generatorUrl }),
  }
}

function statusOf(given: unknown, path: string): 'firing' | 'resolved' | undefined {
  const status = isObject(given) ? (given['status'] ?? undefined) : undefined
  if (status !== undefined && status !== 'firing' && status !== 'resolved')
    throw new InvalidAlert(`${path}.status`, 'wrong_type', { expected: 'firing or resolved' })
  return status
}

function isObject(given: unknown): given is Readonly<Record<string, unknown>> {
  return typeof given === 'object' && given !== null && !Array.isArray(given)
}

function textsOf(given: unknown, path: string): Readonly<Record<string, string>> {
  if (!isObject(given)) throw new InvalidAlert(path, 'wrong_type', { expected: 'an object of texts' })
  for (const [name, value] of Object.entries(given))
    if (typeof value !== 'string')
      throw new InvalidAlert(`${path}.${name}`, 'wrong_type', { expected: 'a text' })
  return given as Readonly<Record<string, string>>
}

// How Go writes a time that is not set.
export const ZERO_TIME = Date.parse('0001-01-01T00:00:00Z')

function timeOf(given: unknown, path: string): number | undefined {
  if (given === undefined || given === null || given === '') return undefined
  const at = typeof given === 'string' ? parseRfc3339(given) : undefined
  if (at === undefined) throw new InvalidAlert(path, 'not_a_time')
  return at === ZERO_TIME ? undefined : at
}
