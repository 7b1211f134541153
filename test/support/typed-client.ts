import { createClient, type Client, type ClientOptions } from '../../clients/typescript/src/index.ts'
import { startScriptedApi, type ScriptedAnswer, type ScriptedApi } from './scripted-api.ts'

export interface ClientWorld extends AsyncDisposable {
  readonly api: ScriptedApi
  readonly client: Client
  /** The pauses of the client, in milliseconds; none takes any time. */
  readonly pauses: readonly number[]
}

/** Pauses that take no time, and a clock that they put forward. */
export function playedTiming(onPause: (milliseconds: number) => void = () => undefined) {
  let passed = 0
  return {
    wait: async (milliseconds: number) => {
      onPause(milliseconds)
      passed += milliseconds
    },
    random: () => 1,
    now: () => passed,
  }
}

/** A typed client of a double with these answers. */
export async function clientWorld(
  answers: readonly ScriptedAnswer[],
  options: Partial<ClientOptions> = {},
): Promise<ClientWorld> {
  const api = await startScriptedApi(answers)
  const pauses: number[] = []
  const timing = playedTiming((milliseconds) => pauses.push(milliseconds))
  return {
    api,
    pauses,
    client: createClient({ url: api.url, token: 'a-token', timing, ...options }),
    [Symbol.asyncDispose]: () => api[Symbol.asyncDispose](),
  }
}
