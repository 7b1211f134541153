import { errorMessage } from '../../src/kernel/errors.ts'
import { READABLE_BY_ALL, replaceFile } from '../files/replace-file.ts'
import { ERROR_CODES, type ErrorCode } from './errors.ts'

/** The numbers of the routine. Times are milliseconds since the epoch; a number that is not known is undefined. */
export interface NightNumbers {
  readonly server: 'primary' | 'standby'
  readonly lastSuccessAt: number | undefined
  readonly lastStartAt: number | undefined
  /** Size of the package of the last success. */
  readonly sizeBytes: number | undefined
  /** Milliseconds by the name of the step, of the last run. */
  readonly stepDurationsMs: Readonly<Record<string, number>>
  /** Failed tries since the last success. */
  readonly failures: number
  /** Code of the last run, if it failed. */
  readonly errorCode: ErrorCode | undefined
  /** Bytes by the name of the cleaning step, of the last run that cleaned. */
  readonly freedBytes: Readonly<Record<string, number>>
  readonly nextRunAt: number | undefined
  readonly drill: DrillNumbers | undefined
}

/** The last restore drill. */
export interface DrillNumbers {
  readonly endedAt: number
  readonly passed: boolean
  /** The last one that passed; undefined when none has. */
  readonly lastPassAt: number | undefined
  readonly rtoSeconds: number | undefined
  readonly rpoSeconds: number | undefined
}

interface Sample {
  readonly value: number | undefined
  readonly labels?: Readonly<Record<string, string>>
}

interface GaugeText {
  readonly name: string
  readonly help: string
  readonly samples: readonly Sample[]
}

/**
 * Writes the metrics for the textfile collector of node_exporter, which reads files that end in `.prom`. Returns the
 * reason if that fails: a night does not fail because of its metrics.
 */
export function writeMetricsFile(path: string, numbers: NightNumbers): string | undefined {
  try {
    // Neither systemd nor node_exporter reads the temporary name.
    replaceFile(path, metricsText(numbers), READABLE_BY_ALL)
    return undefined
  } catch (error) {
    return `${path}: the metrics could not be written (${errorMessage(error)})`
  }
}

/** The metrics in the text format of Prometheus. */
export function metricsText(numbers: NightNumbers): string {
  const { server } = numbers
  return gaugesOf(numbers)
    .map(({ name, help, samples }) => gaugeLines(`platform_backup_${name}`, help, samples, server))
    .join('')
}

function gaugesOf(numbers: NightNumbers): GaugeText[] {
  const { drill } = numbers
  return [
    gauge(
      'last_success_timestamp_seconds',
      'When the last verified backup ended.',
      seconds(numbers.lastSuccessAt),
    ),
    gauge('last_start_timestamp_seconds', 'When the last run began.', seconds(numbers.lastStartAt)),
    gauge('size_bytes', 'Size of the last verified package.', numbers.sizeBytes),
    each(
      'step_duration_seconds',
      'Duration of each step of the last run.',
      'step',
      inSeconds(numbers.stepDurationsMs),
    ),
    gauge('failures', 'Failed tries since the last success.', numbers.failures),
    each(
      'error',
      'Whether the last run failed with this error code.',
      'error_code',
      flags(numbers.errorCode),
    ),
    each('freed_bytes', 'What each cleaning step freed.', 'step', numbers.freedBytes),
    gauge('next_run_timestamp_seconds', 'When the next night begins.', seconds(numbers.nextRunAt)),
    gauge('drill_timestamp_seconds', 'When the last restore drill ended.', seconds(drill?.endedAt)),
    gauge('drill_passed', 'Whether the last restore drill passed.', drill && Number(drill.passed)),
    gauge(
      'drill_last_pass_timestamp_seconds',
      'When a restore drill passed last.',
      seconds(drill?.lastPassAt),
    ),
    gauge('drill_rto_seconds', 'How long the last restore drill took.', drill?.rtoSeconds),
    gauge('drill_rpo_seconds', 'How old the data of the last restore drill was.', drill?.rpoSeconds),
  ]
}

function gauge(name: string, help: string, value: number | undefined): GaugeText {
  return { name, help, samples: [{ value }] }
}

function each(
  name: string,
  help: string,
  label: string,
  values: Readonly<Record<string, number>>,
): GaugeText {
  const samples = Object.entries(values).map(([key, value]) => ({ labels: { [label]: key }, value }))
  return { name, help, samples }
}

function seconds(milliseconds: number | undefined): number | undefined {
  return milliseconds === undefined ? undefined : milliseconds / 1_000
}

function inSeconds(durations: Readonly<Record<string, number>>): Record<string, number> {
  return Object.fromEntries(Object.entries(durations).map(([step, ms]) => [step, ms / 1_000]))
}

/** A series for each code, so that one which returns to 0 is seen. */
function flags(current: ErrorCode | undefined): Record<string, number> {
  return Object.fromEntries(ERROR_CODES.map((code) => [code, Number(code === current)]))
}

function gaugeLines(name: string, help: string, samples: readonly Sample[], server: string): string {
  const lines = samples.flatMap(({ value, labels }) =>
    value === undefined ? [] : [`${name}${labelText({ server, ...labels })} ${value}\n`],
  )
  return lines.length === 0 ? '' : `# HELP ${name} ${help}\n# TYPE ${name} gauge\n${lines.join('')}`
}

function labelText(labels: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escapeLabel(value)}"`)
  return `{${pairs.join(',')}}`
}

function escapeLabel(value: string): string {
  return value.replaceAll(/["\\]/g, String.raw`\$&`).replaceAll('\n', String.raw`\n`)
}
