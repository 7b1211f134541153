import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { chartSvg } from '../../bench/support/chart.ts'
import { parseExposition, sumOf } from '../../bench/support/exposition.ts'
import type { Measure } from '../../bench/support/measure.ts'
import { toJson, toMarkdown, withFigures } from '../../bench/support/report.ts'

const at = (median: number) => ({ median, lowerQuartile: median * 0.9, upperQuartile: median * 1.1 })
const RATE: Measure = {
  what: 'rate ÷ echo',
  values: at(0.8),
  must: { atLeast: 0.5 },
  better: { atLeast: 0.9 },
}
const SLOW: Measure = { what: 'p99 ÷ echo', values: at(4), must: { atMost: 2 } }
const ECHO: Measure = { what: 'echo', unit: 'requests/s', values: at(1_000) }
const OURS: Measure = { what: 'ours', unit: 'requests/s', values: at(800) }
const ALONE: Measure = { what: 'memory', unit: 'MB', values: at(90) }

/** Where the rectangles of that class stand in a picture, and how wide they are. */
function rects(svg: string, style: string) {
  const pattern = new RegExp(`<rect class="${style}" x="([\\d.]+)" y="([\\d.]+)" width="([\\d.]+)"`, 'g')
  return [...svg.matchAll(pattern)].map(([, x, y, width]) => ({
    x: Number(x),
    y: Number(y),
    width: Number(width),
  }))
}

function lines(svg: string, style: string): number[] {
  return [...svg.matchAll(new RegExp(`<path class="${style}" d="M([\\d.]+) `, 'g'))].map(([, x]) => Number(x))
}

test('a bar is as long as its value, beside the line of what must be reached', () => {
  const svg = chartSvg('A chart', [RATE])
  const [track] = rects(svg, 'track')
  const [bar] = rects(svg, 'met')
  const [must] = lines(svg, 'line')
  const [better] = lines(svg, 'better-line')
  assert.ok(track && bar && must && better)
  assert.equal(bar.x, track.x)
  assert.ok(Math.abs(bar.width / (must - track.x) - 0.8 / 0.5) < 0.01)
  assert.ok(Math.abs((better - track.x) / (must - track.x) - 0.9 / 0.5) < 0.01)
  assert.ok(better < track.x + track.width)
})

test('the quartiles stand on either side of the end of the bar', () => {
  const svg = chartSvg('A chart', [RATE])
  const [bar] = rects(svg, 'met')
  const [, from, to] = /class="whisker" d="M([\d.]+) [\d.]+H([\d.]+)/.exec(svg) ?? []
  assert.ok(bar && Number(from) < bar.x + bar.width && bar.x + bar.width < Number(to))
})

test('a verdict is a colour and a word', () => {
  const svg = chartSvg('A chart', [RATE, SLOW])
  assert.equal(rects(svg, 'met').length, 1)
  assert.equal(rects(svg, 'missed').length, 1)
  assert.match(svg, />0\.80 {2}met, must ≥ 0\.5, better ≥ 0\.9</)
  assert.match(svg, />4\.00 {2}missed, must ≤ 2</)
})

test('figures of one unit share a scale, and one alone is left out', () => {
  const svg = chartSvg('A chart', [ECHO, OURS, ALONE])
  const [echo, ours, ...others] = rects(svg, 'plain')
  assert.ok(echo && ours)
  assert.ok(Math.abs(ours.width / echo.width - 0.8) < 0.01)
  assert.deepEqual(others, [])
  assert.doesNotMatch(svg, />memory/)
})

test('no mark lies outside the picture', () => {
  const svg = chartSvg('A chart', [{ ...RATE, values: at(180) }, SLOW, ECHO, OURS])
  const [, width, height] = /viewBox="0 0 (\d+) (\d+)"/.exec(svg) ?? []
  for (const rect of [...rects(svg, 'track'), ...rects(svg, 'better'), ...rects(svg, 'plain')]) {
    assert.ok(rect.x >= 0 && rect.x + rect.width <= Number(width))
    assert.ok(rect.y >= 0 && rect.y + 12 <= Number(height))
  }
})

test('a picture serves light pages and dark ones, and says in words what it shows', () => {
  const svg = chartSvg('A chart', [RATE])
  assert.match(svg, /@media \(prefers-color-scheme: dark\)/)
  assert.match(svg, /<title id="title">A chart<\/title>/)
  assert.match(svg, /<desc id="description">rate ÷ echo: 0\.80 {2}met.*quartiles 0\.72 – 0\.88/)
})

test('names with any characters are shown as text', () => {
  const svg = chartSvg('a < b & "c"', [{ ...RATE, what: '<script>' }])
  assert.match(svg, />a &lt; b &amp; &quot;c&quot;</)
  assert.doesNotMatch(svg, /<script>/)
})

const REPORT = {
  bench: { name: 'things', title: 'Things' },
  rounds: 8,
  sliceMs: 1_500,
  measures: [RATE, SLOW, ECHO],
  notes: ['A peer was not there.'],
}

test('the table of a document names must, better and what was reached, and what missed stands out', () => {
  const text = toMarkdown(REPORT, '2026-01-31')
  assert.match(text, /^!\[Things\]\(images\/bench-things\.svg\)$/m)
  assert.match(text, /^\| rate ÷ echo +\| ≥ 0\.5 +\| ≥ 0\.9 +\| 0\.80 \(0\.72 – 0\.88\) +\| met +\|$/m)
  assert.match(text, /^\| p99 ÷ echo +\| ≤ 2 +\| +\| 4\.00 \(3\.60 – 4\.40\) +\| \*\*missed\*\* \|$/m)
  assert.match(text, /^\| echo, requests\/s +\| +\| +\| 1,000 \(900 – 1,100\) +\| +\|$/m)
  assert.match(text, /^_A peer was not there\._$/m)
  assert.match(text, /^8 rounds, slices of 1\.5 s; Node\.js .*; 2026-01-31\.$/m)
  const rows = text.split('\n').filter((line) => line.startsWith('|'))
  assert.equal(new Set(rows.map((row) => row.length)).size, 1, 'the columns are aligned')
})

test('a pipe in a name does not end its cell', () => {
  const text = toMarkdown({ ...REPORT, measures: [{ ...ECHO, what: 'tar | zstd' }] }, '2026-01-31')
  assert.match(text, /^\| tar \\\| zstd, requests\/s +\| +\| +\| 1,000/m)
})

test('figures for programs say whether each one is reached', () => {
  const { bench, measures, notes } = JSON.parse(JSON.stringify(toJson(REPORT))) as {
    bench: string
    measures: { what: string; met: boolean }[]
    notes: string[]
  }
  assert.equal(bench, 'things')
  assert.deepEqual(
    measures.map(({ met }) => met),
    [true, false, true],
  )
  assert.deepEqual(notes, REPORT.notes)
})

test('new figures take the place of the old ones, and nothing else changes', () => {
  const document = 'Before.\n\n<!-- bench:a -->\n\nold\n\n<!-- /bench:a -->\n\nAfter.\n'
  const renewed = withFigures(document, 'a', 'new')
  assert.equal(renewed, document.replace('old', 'new'))
  assert.equal(withFigures(renewed ?? '', 'a', 'new'), renewed)
})

test('a document without marks for a benchmark, or with half of them, takes no figures', () => {
  assert.equal(withFigures('<!-- bench:a --> <!-- /bench:a -->', 'b', 'new'), undefined)
  assert.equal(withFigures('<!-- bench:a -->', 'a', 'new'), undefined)
})

test('docs/performance.md has a place for the figures of each benchmark', () => {
  const page = readFileSync(join(import.meta.dirname, '../../docs/performance.md'), 'utf8')
  for (const name of [
    'orders',
    'list',
    'slow-disk',
    'scan',
    'outbox',
    'start',
    'gateway',
    'postgres',
    'metrics',
    'scale-out',
  ]) {
    assert.ok(withFigures(page, name, 'new'), name)
  }
})

test('a page of metrics is read sample by sample', () => {
  const samples = parseExposition(
    '# HELP a_total Help {x}.\n# TYPE a_total counter\na_total{k="1",l="x y"} 2\na_total{k="2"} 3.5\nb 1e3\n',
  )
  assert.deepEqual(samples[0], { name: 'a_total', labels: 'k="1",l="x y"', value: 2 })
  assert.equal(sumOf(samples, /^a_/), 5.5)
  assert.throws(() => parseExposition('what is this?\n'), /no sample of a metric: what is this\?/)
})
