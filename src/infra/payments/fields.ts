import type { ProviderPayment, ProviderRefund } from '../../ports/payments.ts'

/** The members of a JSON object; none of them is checked. */
export type Members = Readonly<Record<string, unknown>>

const NO_MEMBERS: Members = {}

/** The members of an object; none of any other value. */
export function objectMembers(value: unknown): Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Members)
    : NO_MEMBERS
}

/** A text that is not empty. */
export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

export function integerOf(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) ? value : undefined
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

/** The members of the object in a JSON text; none of any other text. */
export function parseMembers(text: string): Members {
  try {
    return objectMembers(JSON.parse(text))
  } catch {
    return NO_MEMBERS
  }
}

// The codes of the providers: `resource_missing`, `ORDERPAID`, `ACQ.TRADE_NOT_EXIST`, `isv.invalid-app-id`.
const CODE = /^[A-Za-z0-9_.-]{1,64}$/

/** A provider's code. Anything else could be a text with personal data. */
export function codeOf(value: unknown): string | undefined {
  return typeof value === 'string' && CODE.test(value) ? value : undefined
}

const NUMBER = /^[0-9a-f]{32}$/

/** The number of a payment or refund; undefined for a value that does not have its form. */
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

/** A payment that the provider does not know. */
export const NO_PAYMENT: ProviderPayment = {
  status: 'unknown',
  providerId: undefined,
  amountCents: undefined,
  currency: undefined,
  paidAt: undefined,
  reason: undefined,
}

/** A refund that the provider does not know. */
export const NO_REFUND: ProviderRefund = { status: 'unknown', providerId: undefined, reason: undefined }
