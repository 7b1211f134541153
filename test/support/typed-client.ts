import { createClient, type Client, type ClientOptions } from '../../clients/typescript/src/index.ts'
import { startScriptedApi, type ScriptedAnswer, type ScriptedApi } from './scripted-api.ts'

export interface ClientWorld extends AsyncDisposable {
  readonly api: ScriptedApi
  readonly client: Client
  /** The pauses of the client, in milliseconds; none takes any time. */
  readonly pauses: readonly number[]
}

/** A typed client of a double with these answers. */
export async function clientWorld(
  answers: readonly ScriptedAnswer[],
  options: Partial<ClientOptions> = {},
): Promise<ClientWorld> {
  const api = await startScriptedApi(answers)
  const pauses: number[] = []
  const timing = {
    wait: async (milliseconds: number) => void pauses.push(milliseconds),
    random: () => 1,
  }
  return {
    api,
    pauses,
    client: createClient({ url: api.url, token: 'a-token', timing, ...options }),
    [Symbol.asyncDispose]: () => api[Symbol.asyncDispose](),
  }
}
