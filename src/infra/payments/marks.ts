const NUMBER = /^[0-9a-f]{32}$/

/** Whether a text has the form of the numbers that are made here; undefined if it has not. */
export function toNumber(value: unknown): string | undefined {
  return typeof value === 'string' && NUMBER.test(value) ? value : undefined
}

const ORDER_MARK = 'order='

/** The mark of a payment in a free text field of the provider, which its callbacks repeat. */
export function markOf(orderId: string): string {
  return `${ORDER_MARK}${orderId}`
}

export function orderOfMark(mark: unknown): string | undefined {
  return typeof mark === 'string' && mark.startsWith(ORDER_MARK) ? mark.slice(ORDER_MARK.length) : undefined
}

/** The beginning of a text that has at most so many bytes of UTF-8; no character is cut. */
export function cutToBytes(text: string, maximum: number): string {
  const bytes = Buffer.from(text)
  if (bytes.length <= maximum) return text
  let end = maximum
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--
  return bytes.toString('utf8', 0, end)
}
