import {
  formatBound,
  formatFigure,
  formatQuartiles,
  verdict,
  withUnit,
  type Bound,
  type Measure,
} from './measure.ts'
import type { Spread } from './statistics.ts'

const WIDTH = 760
const MARGIN = 20
const BAR_WIDTH = WIDTH - 2 * MARGIN
const BAR_HEIGHT = 12
const ROW_HEIGHT = 44
const HEADING_HEIGHT = 34
const TOP = 48

/**
 * The figures of a benchmark as an SVG picture, for light and for dark pages. What must be reached is a line across
 * its bar, each on a scale of its own; figures that only inform share a scale with the others of their unit.
 */
export function chartSvg(title: string, measures: readonly Measure[]): string {
  const blocks = [...boundBlocks(measures), ...unitBlocks(measures)]
  const height = TOP + blocks.reduce((sum, block) => sum + block.height, 0) + MARGIN
  let y = TOP
  const drawn = blocks.map((block) => {
    const lines = block.draw(y)
    y += block.height
    return lines
  })
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" role="img" aria-labelledby="title description">
  <title id="title">${escapeXml(title)}</title>
  <desc id="description">${escapeXml(describe(measures))}</desc>
  <style>${STYLE}</style>
  <rect class="page" width="${WIDTH}" height="${height}" rx="8"/>
  <text class="title" x="${MARGIN}" y="30">${escapeXml(title)}</text>
${drawn.join('\n')}
</svg>
`
}

/** A part of the picture, from a height on. */
interface Block {
  readonly height: number
  draw(y: number): string
}

function boundBlocks(measures: readonly Measure[]): Block[] {
  return measures.filter(({ must }) => must).map((measure) => row(measure, scaleOf([measure])))
}

function unitBlocks(measures: readonly Measure[]): Block[] {
  const plain = measures.filter(({ must, unit }) => !must && unit !== undefined)
  const units = Map.groupBy(plain, ({ unit = '' }) => unit)
  // One figure alone is compared with nothing.
  return [...units].filter(([, group]) => group.length > 1).flatMap(([unit, group]) => unitGroup(unit, group))
}

function unitGroup(unit: string, group: readonly Measure[]): Block[] {
  const scale = scaleOf(group)
  const heading = { height: HEADING_HEIGHT, draw: (y: number) => text('unit', MARGIN, y + 24, unit) }
  return [heading, ...group.map(({ what, values }) => row({ what, values }, scale))]
}

/** The value at the right end of a bar. */
function scaleOf(measures: readonly Measure[]): number {
  const ends = measures.flatMap(({ values, must, better }) => [
    values.upperQuartile,
    values.median,
    limitOf(must),
    limitOf(better),
  ])
  return Math.max(...ends.filter(Number.isFinite), Number.MIN_VALUE) * 1.05
}

function row(measure: Measure, scale: number): Block {
  const { values, must, better } = measure
  const at = (value: number) => MARGIN + (Math.max(0, Math.min(value, scale)) / scale) * BAR_WIDTH
  return {
    height: ROW_HEIGHT,
    draw(y) {
      const bar = y + 18
      return [
        text('label', MARGIN, y + 12, withUnit(measure)),
        text('figure', WIDTH - MARGIN, y + 12, figureText(measure)),
        rect('track', MARGIN, bar, BAR_WIDTH),
        rect(verdict(measure) || 'plain', MARGIN, bar, at(values.median) - MARGIN),
        whisker(values, bar, at),
        better && limit('better-line', at(limitOf(better)), bar),
        must && limit('line', at(limitOf(must)), bar),
      ]
        .filter(Boolean)
        .join('\n')
    },
  }
}

function figureText(measure: Measure): string {
  const { values, must, better } = measure
  const bounds = [must && `must ${formatBound(must)}`, better && `better ${formatBound(better)}`]
  // The word says what the colour says.
  const words = [verdict(measure), ...bounds].filter(Boolean).join(', ')
  return words === '' ? formatFigure(values.median) : `${formatFigure(values.median)}  ${words}`
}

function limitOf(bound: Bound | undefined): number {
  if (!bound) return NaN
  return 'atLeast' in bound ? bound.atLeast : bound.atMost
}

function text(style: string, x: number, y: number, content: string): string {
  return `  <text class="${style}" x="${x}" y="${y}">${escapeXml(content)}</text>`
}

function rect(style: string, x: number, y: number, width: number): string {
  return `  <rect class="${style}" x="${x}" y="${y}" width="${round(width)}" height="${BAR_HEIGHT}" rx="2"/>`
}

/** The range that holds the middle half of the rounds. */
function whisker({ lowerQuartile, upperQuartile }: Spread, y: number, at: (value: number) => number): string {
  const middle = y + BAR_HEIGHT / 2
  const [from, to] = [round(at(lowerQuartile)), round(at(upperQuartile))]
  return `  <path class="whisker" d="M${from} ${middle}H${to}M${from} ${middle - 3}v6M${to} ${middle - 3}v6"/>`
}

function limit(style: string, x: number, y: number): string {
  return `  <path class="${style}" d="M${round(x)} ${y - 3}v${BAR_HEIGHT + 6}"/>`
}

function describe(measures: readonly Measure[]): string {
  return measures
    .map(
      (measure) =>
        `${withUnit(measure)}: ${figureText(measure)}; quartiles ${formatQuartiles(measure.values)}.`,
    )
    .join(' ')
}

function round(value: number): string {
  return String(Math.round(value * 10) / 10)
}

const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

function escapeXml(content: string): string {
  return content.replaceAll(/[&<>"]/g, (character) => ESCAPES[character] as string)
}

const STYLE = `
    text { font: 13px system-ui, -apple-system, 'Segoe UI', 'Noto Sans', 'DejaVu Sans', sans-serif; fill: #1f2328; }
    .title { font-size: 16px; font-weight: 600; }
    .unit { font-weight: 600; }
    .figure { text-anchor: end; fill: #59636e; }
    .page { fill: #ffffff; }
    .track { fill: #eff2f5; }
    .plain { fill: #818b98; }
    .met { fill: #0969da; }
    .better { fill: #1a7f37; }
    .missed { fill: #bc4c00; }
    .line { stroke: #1f2328; stroke-width: 2; }
    .better-line { stroke: #1f2328; stroke-width: 1.5; stroke-dasharray: 3 2; }
    .whisker { fill: none; stroke: #1f2328; stroke-width: 1; }
    @media (prefers-color-scheme: dark) {
      text { fill: #f0f6fc; }
      .figure { fill: #9198a1; }
      .page { fill: #0d1117; }
      .track { fill: #21262d; }
      .plain { fill: #656c76; }
      .met { fill: #4493f8; }
      .better { fill: #3fb950; }
      .missed { fill: #db6d28; }
      .line, .better-line, .whisker { stroke: #f0f6fc; }
    }
  `
