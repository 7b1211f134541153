const UNITS = ['bytes', 'kB', 'MB', 'GB', 'TB'] as const
const STEP = 1_000

/** `1.2 GB` */
export function sizeText(bytes: number): string {
  let [value, unit] = [bytes, 0]
  while (value >= STEP && unit < UNITS.length - 1) {
    value /= STEP
    unit += 1
  }
  return `${unit === 0 ? value : Number(value.toPrecision(3))} ${UNITS[unit]}`
}

/** `12,345`; with what is counted, `1 file`, `12,345 files` */
export function countText(count: number, what = ''): string {
  const number = count.toLocaleString('en')
  return what === '' ? number : `${number} ${what}${count === 1 ? '' : 's'}`
}

const LONG_UNITS = [
  ['d', 86_400],
  ['h', 3_600],
  ['min', 60],
  ['s', 1],
] as const

/** The two largest units: `3 d 4 h`, `12 min 5 s`, `0 s`. */
export function durationText(seconds: number): string {
  let left = Math.round(seconds)
  const parts: string[] = []
  for (const [unit, length] of LONG_UNITS) {
    const count = Math.floor(left / length)
    left -= count * length
    if (count > 0) parts.push(`${count} ${unit}`)
    else if (parts.length > 0) break
  }
  return parts.slice(0, 2).join(' ') || '0 s'
}
