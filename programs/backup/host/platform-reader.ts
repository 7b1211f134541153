import type { WaitingClock } from '../../../src/kernel/clock.ts'
import { errorMessage } from '../../../src/kernel/errors.ts'
import { isRecord, jsonMembersOf } from '../../../src/kernel/text.ts'
import { SECOND } from '../../../src/kernel/time.ts'
import { HttpClient } from '../drive/http.ts'
import type { SignCall } from './signed-call.ts'

// Only admin and auditor see the executions of all users.
const IDENTITY = {
  'x-user-id': 'platform-backup',
  'x-user-name': 'platform-backup',
  'x-user-roles': 'devops,auditor',
}
const TIMEOUT_MS = 10 * SECOND

/** An answer of the platform. */
export interface PlatformAnswer {
  readonly status: number
  readonly text: string
}

/** Reads from the platform over HTTP. */
export interface PlatformReader {
  /** Rejects when the platform does not answer; a status of an error is an answer. */
  get(url: string): Promise<PlatformAnswer>
  /** Closes idle connections. */
  close(): void
}

export function createPlatformReader(clock: WaitingClock, sign: SignCall = (call) => call): PlatformReader {
  const client = new HttpClient(clock)
  return {
    async get(url) {
      const headers = { accept: 'application/json, text/plain', ...IDENTITY }
      const call = { method: 'GET', url, headers, timeoutMs: TIMEOUT_MS, idleMs: TIMEOUT_MS } as const
      const answer = await client.send(sign(call))
      return { status: answer.status, text: await answer.text() }
    },
    close: () => client.close(),
  }
}

/** Whether the platform knows who calls: it takes alerts, tickets and heartbeats from nobody else. */
export type Recognition =
  | { readonly outcome: 'recognised' }
  | { readonly outcome: keyof typeof RECOGNITION_REMEDIES; readonly reason: string }

/** What to do when the platform does not recognise the routine, without a full stop. */
export const RECOGNITION_REMEDIES = {
  refused:
    'set backup.platform_api to the address of the api itself, no gateway and no proxy, and give both the same auth.jwt_secret and the same time',
  failing: 'the platform at this address fails: "platform doctor" says why',
  unreachable: 'start the platform, or change backup.platform_api',
} as const

/** Never rejects. */
export async function askRecognition(reader: PlatformReader, platformApi: string): Promise<Recognition> {
  try {
    const { status } = await reader.get(`${platformApi}/auth/me`)
    if (status === 200) return { outcome: 'recognised' }
    if (status >= 500) return { outcome: 'failing', reason: `answers with HTTP status ${status}` }
    return { outcome: 'refused', reason: `does not recognise this routine (HTTP status ${status})` }
  } catch (error) {
    return { outcome: 'unreachable', reason: errorMessage(error) }
  }
}

/** The items of a list. Rejects when the platform does not answer with one. */
export async function readItems(
  reader: PlatformReader,
  url: string,
): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const { status, text } = await reader.get(url)
  if (status !== 200) throw new Error(`the platform answers with ${status}`)
  const items = jsonMembersOf(text)['items']
  if (!Array.isArray(items)) throw new Error('the answer of the platform has no list')
  return items.map((item) => (isRecord(item) ? item : {}))
}
