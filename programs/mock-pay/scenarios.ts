import { MINUTE, SECOND } from '../../src/kernel/time.ts'
import { isRecord, jsonValueOf } from '../../src/kernel/text.ts'
import { ValueError } from '../mock-server/value-error.ts'
import { CHANNELS, type Channel } from './channels.ts'
import { OPERATIONS, type Operation } from './provider.ts'

const CALLS: readonly Operation[] = ['create', 'query', 'close', 'refund', 'bill']

interface Rules {
  readonly on: readonly Operation[]
  /** The scenario takes `delay_ms`; this is its default. */
  readonly delayMs?: number
}

/** All scenarios, in the order of docs/guide/mock-pay.md. */
export const SCENARIOS = {
  '429': { on: CALLS },
  '500': { on: CALLS },
  delay: { on: OPERATIONS, delayMs: 2 * SECOND },
  slow: { on: CALLS, delayMs: 12 * SECOND },
  reset: { on: CALLS },
  reset_before: { on: CALLS },
  fail: { on: CALLS },
  early: { on: ['create'] },
  late: { on: ['close'] },
  wrong_amount: { on: ['query', 'callback'] },
  lost: { on: ['callback'] },
  twice: { on: ['callback'] },
  out_of_order: { on: ['callback'] },
  bad_signature: { on: ['callback'] },
  old_timestamp: { on: ['callback'] },
  no_bill: { on: ['bill'] },
  bill_differs: { on: ['bill'] },
} as const satisfies Record<string, Rules>

export type ScenarioKind = keyof typeof SCENARIOS

export const SCENARIO_KINDS = Object.keys(SCENARIOS) as ScenarioKind[]

export interface ScriptedScenario {
  /** The provider; undefined stands for every provider. */
  readonly channel: Channel | undefined
  readonly on: Operation
  readonly kind: ScenarioKind
  readonly delayMs: number
}

/**
 * Parses a script: `[{"channel": "stripe", "on": "callback", "kind": "lost"}, …]`. Undefined when the text is no list;
 * throws a `ValueError` that names the wrong item.
 */
export function parsePayScenarios(text: string): ScriptedScenario[] | undefined {
  const items = jsonValueOf(text)
  if (!Array.isArray(items)) return undefined
  return items.map((item: unknown, index) => {
    const refuse: Refuse = (expected, got) =>
      new ValueError(`expected ${expected} in item ${index}, got ${JSON.stringify(got) ?? 'nothing'}`)
    if (!isRecord(item)) throw refuse('an object', item)
    return parseScenario(item, refuse)
  })
}

type Refuse = (expected: string, got: unknown) => ValueError

function parseScenario(fields: Readonly<Record<string, unknown>>, refuse: Refuse): ScriptedScenario {
  const kind = SCENARIO_KINDS.find((each) => each === fields['kind'])
  if (!kind) throw refuse(`"kind" to be one of ${SCENARIO_KINDS.join(', ')}`, fields['kind'])
  const rules: Rules = SCENARIOS[kind]
  const on = rules.on.find((each) => each === fields['on'])
  if (!on) throw refuse(`"on" of ${kind} to be one of ${rules.on.join(', ')}`, fields['on'])
  const channel = CHANNELS.find((each) => each === fields['channel'])
  if (!channel && fields['channel'] !== undefined)
    throw refuse(`"channel" to be one of ${CHANNELS.join(', ')}`, fields['channel'])
  const known = ['channel', 'on', 'kind', ...(rules.delayMs === undefined ? [] : ['delay_ms'])]
  const unknown = Object.keys(fields).find((name) => !known.includes(name))
  if (unknown !== undefined) throw refuse(`only ${known.join(', ')} for ${kind}`, unknown)
  return { channel, on, kind, delayMs: parseDelay(fields['delay_ms'] ?? rules.delayMs ?? 0, refuse) }
}

const LONGEST_MS = 10 * MINUTE

function parseDelay(value: unknown, refuse: Refuse): number {
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= LONGEST_MS) return value
  throw refuse(`"delay_ms" to be an integer from 0 to ${LONGEST_MS}`, value)
}

/** The scenarios that have not run yet, in their order. */
export class Script {
  readonly #items: ScriptedScenario[]

  constructor(items: readonly ScriptedScenario[]) {
    this.#items = [...items]
  }

  /** Adds a scenario; also while the server runs. */
  add(item: ScriptedScenario): void {
    this.#items.push(item)
  }

  /** Removes the scenarios that have not run. */
  clear(): void {
    this.#items.length = 0
  }

  take(channel: Channel, on: Operation): ScriptedScenario | undefined {
    const index = this.#items.findIndex((each) => each.on === on && (each.channel ?? channel) === channel)
    return index < 0 ? undefined : this.#items.splice(index, 1)[0]
  }
}
