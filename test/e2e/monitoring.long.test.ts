import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { metricsText } from '../../programs/backup/metrics-file.ts'
import { eventually } from '../support/eventually.ts'
import { servePlatform, temporaryDirectory } from '../support/platform.ts'
import { startPrometheus } from '../support/prometheus.ts'

const DEPLOY = join(import.meta.dirname, '../../deploy')
const RULES = join(DEPLOY, 'prometheus')

interface Dashboard {
  readonly panels: readonly {
    readonly title: string
    readonly targets: readonly { readonly expr: string }[]
  }[]
}

const dashboard = JSON.parse(readFileSync(join(DEPLOY, 'grafana/platform.json'), 'utf8')) as Dashboard
const rules = readFileSync(join(RULES, 'platform.rules.yml'), 'utf8')
const expressions = [...rules.matchAll(/^ +expr: '(.*)'$/gm)].map(([, expr = '']) =>
  expr.replaceAll("''", "'"),
)

function promtool(...args: readonly string[]): void {
  const { status, stdout, stderr } = spawnSync('promtool', args, { cwd: RULES, encoding: 'utf8' })
  assert.equal(status, 0, `${stdout}${stderr}`)
}

test('the alert rules are valid, and each fires and stays silent as its unit tests say', () => {
  promtool('check', 'rules', 'platform.rules.yml')
  promtool('test', 'rules', 'platform.rules.test.yml')
  const tests = readFileSync(join(RULES, 'platform.rules.test.yml'), 'utf8')
  for (const [, name = ''] of rules.matchAll(/- alert: (\w+)/g))
    for (const outcome of ['fires', 'does not fire'])
      assert.ok(tests.includes(`name: ${name} ${outcome}\n`), name)
})

/** The names of the metrics in a query. */
function namesIn(expr: string): string[] {
  return expr.match(/\b(?:platform|nodejs|process)_\w+/g) ?? []
}

test('every query of the dashboard returns data, and every rule uses metrics that exist', async () => {
  await using opening = new AsyncDisposableStack()
  const data = opening.use(temporaryDirectory())
  const platform = opening.use(await servePlatform({ dataDir: data.path }))
  const receiver = { url: platform.url }
  const prometheus = opening.use(await startPrometheus({ target: platform.url, receiver, rules: [] }))
  // The test's Prometheus names its job otherwise.
  const query = async (expr: string) => {
    const url = `${prometheus.url}/api/v1/query?query=${encodeURIComponent(expr.replaceAll('job="platform"', 'job="test"'))}`
    const { data: answer } = (await (await fetch(url)).json()) as { data: { result: unknown[] } }
    return answer.result.length
  }
  for (const { title, targets } of dashboard.panels)
    for (const { expr } of targets) await eventually(`data for ${title}`, () => query(expr))
  const exposed = await (await fetch(`${platform.url}/metrics`)).text()
  const night = metricsText({
    server: 'primary',
    lastSuccessAt: 1,
    lastStartAt: 1,
    sizeBytes: 1,
    stepDurationsMs: {},
    failures: 0,
    errorCode: undefined,
    freedBytes: {},
    nextRunAt: 1,
    drill: { endedAt: 1, passed: true, lastPassAt: 1, rtoSeconds: 1, rpoSeconds: 1 },
  })
  const known = new Set([...`${exposed}${night}`.matchAll(/^# TYPE (\w+) /gm)].map(([, name = '']) => name))
  for (const name of expressions.flatMap(namesIn))
    assert.ok(known.has(name) || known.has(name.replace(/_bucket$/, '')), name)
  assert.equal(expressions.length, 29)
})
