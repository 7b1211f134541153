import { isRecord, jsonValueOf } from '../../src/kernel/text.ts'
import { ValueError } from './value-error.ts'

/** The one number of a scenario. */
export interface ScenarioOption {
  readonly name: string
  readonly default: number
  readonly minimum: number
  readonly maximum: number
}

/** Where a script may use a scenario, and with which number. */
export interface ScenarioRules<Endpoint extends string> {
  readonly endpoints: readonly Endpoint[]
  readonly option?: ScenarioOption
}

/** One scenario, for one request to that endpoint. */
export interface ScriptedScenario<Endpoint extends string, Name extends string> {
  readonly endpoint: Endpoint
  readonly scenario: Name
  readonly option: number
}

/**
 * Parses a script: `[{"endpoint": "token", "scenario": "delay", "delay_ms": 500}, …]`. Undefined when the text is no list;
 * throws a {@link ValueError} that names the wrong item.
 */
export function parseScenarios<Endpoint extends string, Name extends string>(
  text: string,
  scenarios: Readonly<Record<Name, ScenarioRules<Endpoint>>>,
): ScriptedScenario<Endpoint, Name>[] | undefined {
  const items = jsonValueOf(text)
  if (!Array.isArray(items)) return undefined
  return items.map((item: unknown, index) => {
    const refuse = (expected: string, got: unknown) =>
      new ValueError(`expected ${expected} in item ${index}, got ${JSON.stringify(got) ?? 'nothing'}`)
    return parseScenario(item, scenarios, refuse)
  })
}

type Refuse = (expected: string, got: unknown) => ValueError

function parseScenario<Endpoint extends string, Name extends string>(
  fields: unknown,
  scenarios: Readonly<Record<Name, ScenarioRules<Endpoint>>>,
  refuse: Refuse,
): ScriptedScenario<Endpoint, Name> {
  if (!isRecord(fields)) throw refuse('an object', fields)
  const names = Object.keys(scenarios) as Name[]
  const scenario = names.find((name) => name === fields['scenario'])
  if (!scenario) throw refuse(`"scenario" to be one of ${names.join(', ')}`, fields['scenario'])
  const { endpoints, option } = scenarios[scenario]
  const endpoint = endpoints.find((name) => name === fields['endpoint'])
  if (!endpoint)
    throw refuse(`"endpoint" of ${scenario} to be one of ${endpoints.join(', ')}`, fields['endpoint'])
  const known = ['endpoint', 'scenario', ...(option ? [option.name] : [])]
  const unknown = Object.keys(fields).find((name) => !known.includes(name))
  if (unknown !== undefined) throw refuse(`only ${known.join(', ')} for ${scenario}`, unknown)
  return { endpoint, scenario, option: option ? readOption(fields, option, refuse) : 0 }
}

function readOption(
  fields: Readonly<Record<string, unknown>>,
  { name, default: fallback, minimum, maximum }: ScenarioOption,
  refuse: Refuse,
): number {
  const value = fields[name] ?? fallback
  const isGood = typeof value === 'number' && Number.isInteger(value) && value >= minimum && value <= maximum
  if (!isGood) throw refuse(`"${name}" to be an integer from ${minimum} to ${maximum}`, value)
  return value
}

/** The scenarios that have not run yet. */
export class ScenarioQueue<Endpoint extends string, Name extends string> {
  readonly #byEndpoint: ReadonlyMap<Endpoint, ScriptedScenario<Endpoint, Name>[]>

  constructor(script: readonly ScriptedScenario<Endpoint, Name>[]) {
    this.#byEndpoint = Map.groupBy(script, ({ endpoint }) => endpoint)
  }

  /** Removes and returns the next scenario of the endpoint. */
  take(endpoint: Endpoint): ScriptedScenario<Endpoint, Name> | undefined {
    return this.#byEndpoint.get(endpoint)?.shift()
  }
}
