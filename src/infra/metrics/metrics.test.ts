import assert from 'node:assert/strict'
import { createHook } from 'node:async_hooks'
import { test, type TestContext } from 'node:test'
import { systemClock, type Clock } from '../../kernel/clock.ts'
import type { Logger } from '../../kernel/logger.ts'
import { silentLogger } from '../../kernel/logger.ts'
import { fakeClock } from '../../../test/support/clock.ts'
import { createMetrics } from './metrics.ts'

interface ParsedFamily {
  type?: string
  help?: string
  readonly samples: Map<string, number>
}

const SAMPLE =
  /^([a-z_][a-z0-9_]*)(\{(?:[a-z_][a-z0-9_]*="(?:[^"\\\n]|\\[\\n"])*",?)*\})? (NaN|[+-]Inf|-?\d\S*)$/
const SUFFIX = /_(?:bucket|sum|count)$/

/** Reads the text formats strictly: one HELP and TYPE before the samples, lines of a family together, no series twice. */
function parse(body: string): Map<string, ParsedFamily> {
  assert.ok(body.endsWith('\n') && !body.includes('\r'))
  const families = new Map<string, ParsedFamily>()
  let current = ''
  for (const line of body.trimEnd().split(/\n+/)) {
    const [, keyword, name = '', rest = ''] = /^# (HELP|TYPE) (\S+) (.*)$/.exec(line) ?? []
    if (keyword === 'HELP') {
      assert.ok(!families.has(name), `${name} twice`)
      families.set(name, { help: rest, samples: new Map() })
      current = name
    } else if (keyword === 'TYPE') {
      assert.equal(name, current)
      familyOf(families, current).type = rest
    } else if (line !== '# EOF') {
      addSample(familyOf(families, current), current, line)
    }
  }
  return families
}

function familyOf(families: Map<string, ParsedFamily>, name: string): ParsedFamily {
  const family = families.get(name)
  assert.ok(family, `no family ${name}`)
  return family
}

function addSample(family: ParsedFamily, familyName: string, line: string): void {
  const [, name = '', labels = '', value = ''] = SAMPLE.exec(line) ?? []
  assert.notEqual(name, '', `no sample: ${line}`)
  const base = family.type === 'histogram' ? name.replace(SUFFIX, '') : name
  assert.ok(base === familyName || base === `${familyName}_total`, `${name} among ${familyName}`)
  const series = `${name}${labels}`
  assert.ok(!family.samples.has(series), `${series} twice`)
  family.samples.set(series, Number(value.replace('Inf', 'Infinity')))
}

function open(t: TestContext, logger: Logger = silentLogger, clock: Clock = systemClock) {
  const { metrics, expose, close } = createMetrics({ logger, clock })
  t.after(close)
  return {
    metrics,
    expose,
    close,
    read: async () => parse((await expose()).body),
    samples: async (name: string) => Object.fromEntries(familyOf(parse((await expose()).body), name).samples),
  }
}

test('a counter counts, with and without labels', async (t) => {
  const { metrics, read } = open(t)
  const plain = metrics.counter({ name: 'starts_total', help: 'Starts.' })
  const labelled = metrics.counter({ name: 'requests_total', help: 'Requests.', labels: ['route', 'status'] })
  plain.increment()
  plain.increment({}, 2.5)
  labelled.increment({ route: '/a', status: '200' })
  labelled.increment({ status: '200', route: '/a' }, 4)
  labelled.increment({ route: '/a', status: '500' })
  const families = await read()
  assert.deepEqual(families.get('platform_starts_total'), {
    type: 'counter',
    help: 'Starts.',
    samples: new Map([['platform_starts_total', 3.5]]),
  })
  assert.deepEqual(
    families.get('platform_requests_total')?.samples,
    new Map([
      ['platform_requests_total{route="/a",status="200"}', 5],
      ['platform_requests_total{route="/a",status="500"}', 1],
    ]),
  )
})

test('a counter without labels is 0 at first, and so is each series of a counter whose labels have their values', async (t) => {
  const { metrics, samples } = open(t)
  metrics.counter({ name: 'starts_total', help: 'h' })
  const requests = metrics.counter({ name: 'requests_total', help: 'h', labels: ['route'] })
  assert.deepEqual(await samples('platform_starts_total'), { platform_starts_total: 0 })
  assert.deepEqual(await samples('platform_requests_total'), {})
  requests.increment({ route: '/a' })
  assert.deepEqual(await samples('platform_requests_total'), { 'platform_requests_total{route="/a"}': 1 })
  for (const name of ['a', 'b'])
    metrics.counter({ name: 'runs_total', help: 'h', labels: { name: [name], outcome: ['ok', 'failed'] } })
  assert.deepEqual(Object.keys(await samples('platform_runs_total')), [
    'platform_runs_total{name="a",outcome="ok"}',
    'platform_runs_total{name="a",outcome="failed"}',
    'platform_runs_total{name="b",outcome="ok"}',
    'platform_runs_total{name="b",outcome="failed"}',
  ])
})

test('a gauge keeps its last value', async (t) => {
  const { metrics, samples } = open(t)
  const gauge = metrics.gauge({ name: 'pool_free', help: 'h', labels: ['pool'] })
  gauge.set(5, { pool: 'a' })
  gauge.set(-2, { pool: 'a' })
  gauge.set(Number.POSITIVE_INFINITY, { pool: 'b' })
  assert.deepEqual(await samples('platform_pool_free'), {
    'platform_pool_free{pool="a"}': -2,
    'platform_pool_free{pool="b"}': Infinity,
  })
})

test('a histogram shows cumulative buckets, sum and count', async (t) => {
  const { metrics, samples } = open(t)
  const histogram = metrics.histogram({
    name: 'wait_seconds',
    help: 'h',
    labels: ['queue'],
    buckets: [0.1, 1, 10],
  })
  for (const value of [0, 0.1, 0.5, 1, 2, 11]) histogram.observe(value, { queue: 'w' })
  assert.deepEqual(await samples('platform_wait_seconds'), {
    'platform_wait_seconds_bucket{le="0.1",queue="w"}': 2,
    'platform_wait_seconds_bucket{le="1",queue="w"}': 4,
    'platform_wait_seconds_bucket{le="10",queue="w"}': 5,
    'platform_wait_seconds_bucket{le="+Inf",queue="w"}': 6,
    'platform_wait_seconds_sum{queue="w"}': 14.6,
    'platform_wait_seconds_count{queue="w"}': 6,
  })
})

test('the same name is the same metric', async (t) => {
  const { metrics, samples } = open(t)
  const options = { name: 'starts_total', help: 'h' }
  assert.equal(metrics.counter(options), metrics.counter({ ...options, help: 'other' }))
  metrics.counter(options).increment()
  metrics.counter(options).increment()
  assert.deepEqual(await samples('platform_starts_total'), { platform_starts_total: 2 })
})

test('two registries share nothing', async (t) => {
  const [one, two] = [open(t), open(t)]
  one.metrics.counter({ name: 'starts_total', help: 'h' }).increment()
  two.metrics.counter({ name: 'starts_total', help: 'h' })
  assert.deepEqual(await two.samples('platform_starts_total'), { platform_starts_total: 0 })
})

test('a name of another kind of metric, and an invalid name, are rejected', (t) => {
  const { metrics } = open(t)
  metrics.gauge({ name: 'depth', help: 'h' })
  assert.throws(
    () => metrics.histogram({ name: 'depth', help: 'h', buckets: [1] }),
    /platform_depth has already/,
  )
  assert.throws(() => metrics.gauge({ name: 'depth-1', help: 'h' }), /Invalid metric name/)
  assert.throws(() => metrics.gauge({ name: 'width', help: 'h', labels: ['a b'] }), /Invalid label name/)
})

test('a value that cannot be recorded is counted, throws nothing and changes nothing', async (t) => {
  const { metrics, samples } = open(t)
  const counter = metrics.counter({ name: 'starts_total', help: 'h', labels: ['why'] })
  counter.increment({ why: 'a' }, -1)
  counter.increment({ why: 'a' }, Number.NaN)
  counter.increment({ why: 'a' }, Infinity)
  counter.increment({ other: 'x' })
  metrics.gauge({ name: 'depth', help: 'h' }).set(Number.NaN)
  metrics.histogram({ name: 'wait_seconds', help: 'h', buckets: [1] }).observe(Number.NaN)
  assert.deepEqual(await samples('platform_starts_total'), {})
  assert.deepEqual(await samples('platform_depth'), { platform_depth: 0 })
  assert.equal((await samples('platform_wait_seconds'))['platform_wait_seconds_count'], 0)
  assert.deepEqual(await samples('platform_metrics_rejected_total'), {
    'platform_metrics_rejected_total{metric="starts_total"}': 4,
    'platform_metrics_rejected_total{metric="depth"}': 1,
    'platform_metrics_rejected_total{metric="wait_seconds"}': 1,
  })
})

const ODD = 'a\\b"c\nd{},= é'

test('label values and help texts are escaped', async (t) => {
  const { metrics, read, expose } = open(t)
  metrics.gauge({ name: 'odd', help: ODD, labels: ['value'] }).set(1, { value: ODD })
  const family = (await read()).get('platform_odd')
  assert.equal(family?.help, 'a\\\\b"c\\nd{},= é')
  assert.ok((await expose()).body.includes('platform_odd{value="a\\\\b\\"c\\nd{},= é"} 1\n'))
})

test('the format is Prometheus text unless the client accepts OpenMetrics', async (t) => {
  const { metrics, expose } = open(t)
  metrics.counter({ name: 'starts_total', help: 'h' }).increment()
  metrics.histogram({ name: 'wait_seconds', help: 'h', buckets: [0.5, 1] })
  for (const accept of [undefined, '*/*', 'text/html', 'text/plain;version=0.0.4;q=0.3']) {
    const { contentType, body } = await expose(accept)
    assert.equal(contentType, 'text/plain; version=0.0.4; charset=utf-8')
    assert.ok(body.includes('# TYPE platform_starts_total counter\nplatform_starts_total 1\n'))
  }
  const { contentType, body } = await expose(
    'application/openmetrics-text;version=1.0.0;q=0.5,text/plain;q=0.3',
  )
  assert.equal(contentType, 'application/openmetrics-text; version=1.0.0; charset=utf-8')
  assert.ok(body.includes('# TYPE platform_starts counter\nplatform_starts_total 1\n'))
  assert.ok(body.includes('platform_wait_seconds_bucket{le="0.5"} 0\n'))
  assert.ok(body.endsWith('\n# EOF\n'))
  assert.ok(!body.includes('\n\n'))
  for (const [name, { type }] of parse(body)) assert.ok(!name.endsWith('_total'), `${type} ${name}`)
  assert.ok((await expose()).body.includes('# TYPE platform_starts_total counter\nplatform_starts_total 1\n'))
})

test('the process has its standard metrics, and every name has the prefix', async (t) => {
  const { read } = open(t)
  const families = await read()
  for (const [name, { type, help }] of families) {
    assert.match(name, /^platform_[a-z]/)
    assert.ok(help)
    assert.ok(['counter', 'gauge', 'histogram'].includes(type ?? ''), `${name} is a ${type}`)
    assert.equal(type === 'counter', name.endsWith('_total'), name)
  }
  assert.ok(
    (families.get('platform_process_resident_memory_bytes')?.samples.values().next().value ?? 0) > 1e6,
  )
  for (const quantile of ['p50', 'p99', 'max']) {
    assert.ok(families.has(`platform_nodejs_eventloop_lag_${quantile}_seconds`))
  }
  assert.deepEqual(
    [...families.keys()].filter((name) => name.includes('heap_space')),
    [],
  )
})

test('a hook without a time to keep runs at each scrape', async (t) => {
  const { metrics, samples } = open(t)
  const depth = metrics.gauge({ name: 'depth', help: 'h' })
  let rows = 1
  metrics.onScrape(async () => {
    await new Promise(setImmediate)
    depth.set(rows)
  })
  assert.deepEqual(await samples('platform_depth'), { platform_depth: 1 })
  rows = 2
  assert.deepEqual(await samples('platform_depth'), { platform_depth: 2 })
})

test('a hook that fails breaks neither the scrape nor the other hooks, and is logged', async (t) => {
  const warnings: unknown[] = []
  const logger: Logger = { ...silentLogger, warn: (fields) => void warnings.push(fields) }
  const { metrics, samples } = open(t, logger)
  const depth = metrics.gauge({ name: 'depth', help: 'h' })
  metrics.onScrape(() => {
    throw new Error('at once')
  })
  metrics.onScrape(() => Promise.reject(new Error('later')))
  metrics.onScrape(() => depth.set(7))
  assert.deepEqual(await samples('platform_depth'), { platform_depth: 7 })
  assert.deepEqual(warnings, [{ error: 'at once' }, { error: 'later' }])
})

test('a gauge is absent after its hook has failed, until it succeeds again', async (t) => {
  const { metrics, samples } = open(t)
  const depth = metrics.gauge({ name: 'depth', help: 'h' })
  const rows = metrics.gauge({ name: 'rows', help: 'h', labels: ['kind'] })
  let works = true
  const collect = () => {
    if (!works) throw new Error('away')
    depth.set(7)
    rows.set(1, { kind: 'a' })
  }
  metrics.onScrape(collect, [depth, rows])
  const all = async () => ({ ...(await samples('platform_depth')), ...(await samples('platform_rows')) })
  const present = { platform_depth: 7, 'platform_rows{kind="a"}': 1 }
  assert.deepEqual(await all(), present)
  works = false
  assert.deepEqual(await all(), {})
  works = true
  assert.deepEqual(await all(), present)
})

test('a hook that reads the database runs once in the time that its values are kept, however many scrapes there are', async (t) => {
  const clock = fakeClock()
  const { metrics, expose, samples } = open(t, silentLogger, clock)
  const depth = metrics.gauge({ name: 'depth', help: 'h' })
  let runs = 0
  const collect = async () => {
    runs++
    await new Promise(setImmediate)
    depth.set(runs)
  }
  metrics.onScrape(collect, [depth], 5_000)
  await Promise.all(Array.from({ length: 20 }, () => expose()))
  clock.advance(4_999)
  assert.deepEqual(await samples('platform_depth'), { platform_depth: 1 })
  clock.advance(1)
  assert.deepEqual(await samples('platform_depth'), { platform_depth: 2 })
})

test('the failure of a hook is kept like its values', async (t) => {
  const clock = fakeClock()
  const { metrics, expose } = open(t, silentLogger, clock)
  let runs = 0
  const collect = () => {
    runs++
    throw new Error('away')
  }
  metrics.onScrape(collect, [], 5_000)
  await expose()
  await expose()
  assert.equal(runs, 1)
})

test('a hook that never ends does not hold up the scrape', async (t) => {
  const warnings: unknown[] = []
  const { metrics, expose } = open(t, { ...silentLogger, warn: (fields) => void warnings.push(fields) })
  // The timeout of the hook does not keep the process running.
  const alive = setInterval(() => {}, 1_000)
  t.after(() => clearInterval(alive))
  metrics.onScrape(() => new Promise<void>(() => {}))
  await expose()
  assert.deepEqual(warnings, [{ error: 'A hook took longer than 2000 ms.' }])
})

test('a hook that has ended leaves no timer behind', async (t) => {
  const { metrics, expose } = open(t)
  const timers = new Set<number>()
  const init = (id: number, type: string) => void (type === 'Timeout' && timers.add(id))
  const watch = createHook({ init, destroy: (id) => void timers.delete(id) }).enable()
  t.after(() => watch.disable())
  metrics.onScrape(() => {})
  metrics.onScrape(() => Promise.reject(new Error('away')))
  for (let scrape = 0; scrape < 10; scrape++) await expose()
  // Ends are reported in the next turn.
  await new Promise(setImmediate)
  assert.equal(timers.size, 0)
})

test('no hook runs after close, and close may be called twice', async (t) => {
  const { metrics, expose, close } = open(t)
  let runs = 0
  metrics.onScrape(() => void (runs += 1))
  close()
  close()
  await expose()
  assert.equal(runs, 0)
})

test('a metric has a bounded number of series, and the existing ones go on', async (t) => {
  const { metrics, samples } = open(t)
  const counter = metrics.counter({ name: 'visits_total', help: 'h', labels: ['page'] })
  for (let round = 0; round < 2; round++) {
    for (let page = 0; page < 3_000; page++) counter.increment({ page: String(page) })
  }
  const visits = await samples('platform_visits_total')
  assert.equal(Object.keys(visits).length, 1_000)
  assert.equal(visits['platform_visits_total{page="0"}'], 2)
  assert.deepEqual(await samples('platform_metrics_rejected_total'), {
    'platform_metrics_rejected_total{metric="visits_total"}': 4_000,
  })
})

test('a gauge that was cleared has room for other series', async (t) => {
  const { metrics, samples } = open(t)
  const age = metrics.gauge({ name: 'age_seconds', help: 'h', labels: ['name'] })
  for (let name = 0; name < 1_500; name++) {
    age.clear()
    age.set(name, { name: String(name) })
  }
  assert.deepEqual(await samples('platform_age_seconds'), { 'platform_age_seconds{name="1499"}': 1_499 })
  assert.deepEqual(await samples('platform_metrics_rejected_total'), {})
})

test('neither another order of the labels nor a rejected value takes room for a series', async (t) => {
  const { metrics, samples } = open(t)
  const counter = metrics.counter({ name: 'visits_total', help: 'h', labels: ['page', 'status'] })
  for (let page = 0; page < 600; page++) {
    counter.increment({ page: String(page), status: '200' })
    counter.increment({ status: '200', page: String(page) })
    counter.increment({ page: String(page), status: '500' }, -1)
    counter.increment({ other: String(page) })
  }
  assert.equal(Object.keys(await samples('platform_visits_total')).length, 600)
})
