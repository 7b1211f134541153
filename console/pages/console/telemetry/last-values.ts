type LastValue = readonly [name: string, value: string]

/** The values of an item, those of an object in it under its name: `disk.free`. */
export function lastValues(data: Readonly<Record<string, unknown>>, prefix = ''): readonly LastValue[] {
  return Object.entries(data).flatMap(([name, value]): readonly LastValue[] => {
    const path = prefix + name
    if (isRecord(value) && Object.keys(value).length > 0) return lastValues(value, `${path}.`)
    return [[path, typeof value === 'string' ? value : JSON.stringify(value)]]
  })
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
