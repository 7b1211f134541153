import { ENDPOINT_NAMES, type EndpointName } from './endpoint-names.ts'
import { SCENARIO_NAMES, SCENARIOS, type Scenario, type ScenarioName } from './scenarios.ts'
import { ValueError } from './value-error.ts'

/** One scenario, for one request to that endpoint. */
export interface ScriptedScenario {
  readonly endpoint: EndpointName
  readonly scenario: ScenarioName
  readonly option: number
}

/** Parses `MOCK_DRIVE_SCENARIOS`: `[{"endpoint": "create", "scenario": "delay", "delay_ms": 500}, …]`. */
export function parseScenarios(text: string): ScriptedScenario[] | undefined {
  const items = parseJson(text)
  return Array.isArray(items) ? items.map(parseScenario) : undefined
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function parseScenario(item: unknown, index: number): ScriptedScenario {
  const refuse = (expected: string, got: unknown) =>
    new ValueError(`expected ${expected} in item ${index}, got ${JSON.stringify(got) ?? 'nothing'}`)
  if (typeof item !== 'object' || item === null || Array.isArray(item)) throw refuse('an object', item)
  const fields = item as Readonly<Record<string, unknown>>
  const scenario = SCENARIO_NAMES.find((name) => name === fields['scenario'])
  if (!scenario) throw refuse(`"scenario" to be one of ${SCENARIO_NAMES.join(', ')}`, fields['scenario'])
  const { endpoints, option }: Scenario = SCENARIOS[scenario]
  const endpoint = endpoints.find((name) => name === fields['endpoint'])
  if (!endpoint)
    throw refuse(`"endpoint" of ${scenario} to be one of ${endpoints.join(', ')}`, fields['endpoint'])
  const known = ['endpoint', 'scenario', ...(option ? [option.name] : [])]
  const unknown = Object.keys(fields).find((name) => !known.includes(name))
  if (unknown !== undefined) throw refuse(`only ${known.join(', ')} for ${scenario}`, unknown)
  if (!option) return { endpoint, scenario, option: 0 }
  const { name, default: fallback, minimum, maximum } = option
  const value = fields[name] ?? fallback
  const isGood = typeof value === 'number' && Number.isInteger(value) && value >= minimum && value <= maximum
  if (!isGood) throw refuse(`"${name}" to be an integer from ${minimum} to ${maximum}`, value)
  return { endpoint, scenario, option: value }
}

/** The scenarios that have not run yet. */
export interface ScenarioQueue {
  /** Removes and returns the next scenario of the endpoint. */
  take(endpoint: EndpointName): ScriptedScenario | undefined
}

export function createScenarioQueue(script: readonly ScriptedScenario[]): ScenarioQueue {
  const queues = new Map(
    ENDPOINT_NAMES.map((name) => [name, script.filter(({ endpoint }) => endpoint === name)] as const),
  )
  return { take: (endpoint) => queues.get(endpoint)?.shift() }
}
