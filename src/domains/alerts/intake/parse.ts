import { AppError, invalidField, type ErrorDetail } from '../../../kernel/errors.ts'
import { parseRfc3339 } from '../../../kernel/time.ts'
import { sortedLabels } from './labels.ts'
import type { PrometheusAlert } from './report.ts'

/** The result of checking one alert of a request. */
export type ParsedAlert = PrometheusAlert | AlertFault

/** What is wrong with an alert. */
export interface AlertFault {
  readonly fault: ErrorDetail
}

export function isFault(parsed: ParsedAlert): parsed is AlertFault {
  return 'fault' in parsed
}

/**
 * Checks one alert that Prometheus sends; `path` is its place in the request. Unknown keys are ignored, and `status` is one
 * of them.
 */
export function parseAlert(input: unknown, path: string): ParsedAlert {
  return parsedBy(() => checkedAlert(input, path))
}

/** Checks one alert that an Alertmanager sends. Its status alone says whether it has ended; without one its end does. */
export function parseNotified(input: unknown, path: string): ParsedAlert {
  return parsedBy(() => {
    const alert = checkedAlert(input, path)
    const status = statusOf(input, path)
    if (status === undefined) return alert
    return { ...alert, endsAt: undefined, isResolved: status === 'resolved' }
  })
}

function parsedBy(check: () => PrometheusAlert): ParsedAlert {
  try {
    return check()
  } catch (error) {
    const [fault] = error instanceof AppError ? (error.details ?? []) : []
    if (fault) return { fault }
    throw error
  }
}

function checkedAlert(input: unknown, path: string): PrometheusAlert {
  if (!isObject(input)) throw invalidField(path, 'wrong_type', { expected: 'an object' })
  const labels = sortedLabels(textsOf(input['labels'], `${path}.labels`))
  if (labels.length === 0)
    throw invalidField(`${path}.labels`, 'invalid', {
      reason: 'must have at least one label with a value',
    })
  if (labels.some(([name]) => name === ''))
    throw invalidField(`${path}.labels`, 'invalid', { reason: 'must not have an empty name' })
  const annotations = textsOf(input['annotations'] ?? {}, `${path}.annotations`)
  const startsAt = timeOf(input['startsAt'], `${path}.startsAt`)
  const endsAt = timeOf(input['endsAt'], `${path}.endsAt`)
  if (startsAt !== undefined && endsAt !== undefined && endsAt < startsAt)
    throw invalidField(`${path}.endsAt`, 'invalid', { reason: 'must not be before startsAt' })
  const generatorUrl = input['generatorURL']
  return {
    labels,
    annotations,
    startsAt,
    endsAt,
    isResolved: false,
    ...(typeof generatorUrl === 'string' && { generatorUrl }),
  }
}

function statusOf(input: unknown, path: string): 'firing' | 'resolved' | undefined {
  const status = isObject(input) ? (input['status'] ?? undefined) : undefined
  if (status !== undefined && status !== 'firing' && status !== 'resolved')
    throw invalidField(`${path}.status`, 'wrong_type', { expected: 'firing or resolved' })
  return status
}

function isObject(input: unknown): input is Readonly<Record<string, unknown>> {
  return typeof input === 'object' && input !== null && !Array.isArray(input)
}

function textsOf(input: unknown, path: string): Readonly<Record<string, string>> {
  if (!isObject(input)) throw invalidField(path, 'wrong_type', { expected: 'an object of texts' })
  for (const [name, value] of Object.entries(input))
    if (typeof value !== 'string') throw invalidField(`${path}.${name}`, 'wrong_type', { expected: 'a text' })
  return input as Readonly<Record<string, string>>
}

// How Go writes a time that is not set.
export const ZERO_TIME = Date.parse('0001-01-01T00:00:00Z')

function timeOf(input: unknown, path: string): number | undefined {
  if (input === undefined || input === null || input === '') return undefined
  const at = typeof input === 'string' ? parseRfc3339(input) : undefined
  if (at === undefined) throw invalidField(path, 'not_a_time')
  return at === ZERO_TIME ? undefined : at
}
