/** One sample of a metrics page. */
export interface MetricSample {
  readonly name: string
  readonly labels: string
  readonly value: number
}

const SAMPLE = /^([a-z_:][a-z0-9_:]*)(?:\{(.*)\})? (\S+)$/i

/** The samples of a page in the Prometheus text format. */
export function parseExposition(page: string): MetricSample[] {
  return page
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const [, name, labels = '', value] = SAMPLE.exec(line) ?? []
      if (name === undefined) throw new Error(`this is no sample of a metric: ${line}`)
      return { name, labels, value: Number(value) }
    })
}

/** The metrics of a server as they are now. */
export async function readMetrics(port: number): Promise<MetricSample[]> {
  const answer = await fetch(`http://127.0.0.1:${port}/metrics`, { headers: { connection: 'close' } })
  if (!answer.ok) throw new Error(`/metrics answered ${answer.status}`)
  return parseExposition(await answer.text())
}

/** The sum of all samples with a matching name and any labels. */
export function sumOf(samples: readonly MetricSample[], pattern: RegExp): number {
  return samples.filter(({ name }) => pattern.test(name)).reduce((sum, { value }) => sum + value, 0)
}
