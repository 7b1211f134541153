const UNITS: readonly (readonly [names: RegExp, seconds: number, short: string])[] = [
  [/^(d|days?|天)$/, 86_400, 'd'],
  [/^(h|hours?|小时)$/, 3_600, 'h'],
  [/^(m|min|minutes?|分钟?)$/, 60, 'm'],
  [/^(s|sec|seconds?|秒)$/, 1, 's'],
]

const PART = /(\d+(?:[.,]\d+)?)\s*([a-z\u4e00-\u9fff]+)/g

/** The seconds of a period as people write it: `90s`, `15 minutes`, `1d 12h`; undefined for another text. */
export function secondsOf(text: string): number | undefined {
  const trimmed = text.trim().toLowerCase()
  // The text has parts only, and at least one.
  if (trimmed === '' || trimmed.replaceAll(PART, '').trim() !== '') return undefined
  const parts = [...trimmed.matchAll(PART)].map(([, count = '', unit = '']) => {
    const seconds = UNITS.find(([names]) => names.test(unit))?.[1]
    return seconds === undefined ? Number.NaN : Number(count.replace(',', '.')) * seconds
  })
  const sum = parts.reduce((total, part) => total + part, 0)
  return Number.isNaN(sum) ? undefined : Math.round(sum)
}

/** The period in the largest unit that has a whole number of them: 5400 → `90m`. */
export function periodText(seconds: number): string {
  const [, size, name] = UNITS.find(
    ([, unitSeconds]) => seconds >= unitSeconds && seconds % unitSeconds === 0,
  ) ?? [/s/, 1, 's']
  return `${seconds / size}${name}`
}
