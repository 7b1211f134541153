import { code, page, table } from './markdown.ts'

const NOTE = `The metrics of \`GET /metrics\`, in the Prometheus text format, in a process with all modules. A process
without a module lacks its metrics. A process on PostgreSQL also has the counter \`platform_store_server_changes_total\`: the
changes to another server of the list in \`database.url\`. [Operating](../guide/operating.md#metrics-and-alarms) recommends alarms.`

/** The platform's metrics come before those of its process. */
const SECTIONS: readonly { readonly title: string; readonly includes: (name: string) => boolean }[] = [
  { title: 'Platform', includes: (name) => !isProcessMetric(name) },
  { title: 'Process', includes: isProcessMetric },
]

interface Metric {
  readonly name: string
  readonly type: string
  readonly help: string
}

/** Throws an error when a section would be empty: then the platform has not answered with its metrics. */
export function metricsPage(exposition: string): string {
  const metrics = metricsIn(exposition).sort((a, b) => (a.name < b.name ? -1 : 1))
  const sections = SECTIONS.flatMap(({ title, includes }) => [
    `## ${title}`,
    metricTable(
      requireMetrics(
        title,
        metrics.filter(({ name }) => includes(name)),
      ),
    ),
  ])
  return page('Metrics', NOTE, ...sections)
}

function requireMetrics(title: string, metrics: readonly Metric[]): readonly Metric[] {
  if (metrics.length > 0) return metrics
  throw new Error(
    `GET /metrics: expected metrics for the section "${title}", got none; run the command again.`,
  )
}

function metricTable(metrics: readonly Metric[]): string {
  return table(
    ['Name', 'Type', 'Meaning'],
    metrics.map(({ name, type, help }) => [code(name), type, help]),
  )
}

function metricsIn(exposition: string): Metric[] {
  const types = new Map(
    [...exposition.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name, type]) => [name, type]),
  )
  return [...exposition.matchAll(/^# HELP (\S+) (.*)$/gm)].map(([, name = '', help = '']) => ({
    name,
    type: types.get(name) ?? '',
    help,
  }))
}

function isProcessMetric(name: string): boolean {
  return /^platform_(process|nodejs)_/.test(name)
}
