import { code, page, table } from './markdown.ts'

const NOTE = `What \`GET /metrics\` shows in a process with every module, in the Prometheus text format. A part of the
program that does not run shows nothing. [Operating](../guide/operating.md#metrics-and-alarms) says what to alarm on.`

/** The platform's own metrics before those of the process that it runs in. */
const SECTIONS: readonly { readonly title: string; readonly holds: (name: string) => boolean }[] = [
  { title: 'Platform', holds: (name) => !isOfProcess(name) },
  { title: 'Process', holds: isOfProcess },
]

interface Metric {
  readonly name: string
  readonly type: string
  readonly help: string
}

export function metricsPage(exposition: string): string {
  const metrics = metricsIn(exposition).sort((a, b) => (a.name < b.name ? -1 : 1))
  const sections = SECTIONS.flatMap(({ title, holds }) => [
    `## ${title}`,
    metricTable(metrics.filter(({ name }) => holds(name))),
  ])
  return page('Metrics', NOTE, ...sections)
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

function isOfProcess(name: string): boolean {
  return /^platform_(process|nodejs)_/.test(name)
}
