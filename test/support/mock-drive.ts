import { hash } from 'node:crypto'
import { readMockDriveConfig } from '../../programs/mock-drive/env.ts'
import type { MockEnvironment } from '../../programs/mock-server/variables.ts'
import { proofRange } from '../../programs/mock-drive/endpoints/create.ts'
import { startMockDrive } from '../../programs/mock-drive/index.ts'
import type { Clock } from '../../src/kernel/clock.ts'
import { fakeClock } from './clock.ts'

export const DRIVE_CLIENT_ID = 'drive_mock_docvalue_0001'
export const DRIVE_CLIENT_SECRET = 'drive_secret_docvalue_0001'
export const DRIVE_REFRESH_TOKEN = 'drive_refresh_docvalue_0001'
export const DRIVE_ID = 'drive-1'

type Members = Readonly<Record<string, unknown>>

export interface DriveAnswer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  readonly bytes: Buffer
  /** The body, which must be a JSON object. */
  json(): Record<string, unknown>
}

export interface TestDrive extends AsyncDisposable {
  readonly url: string
  readonly port: number
  readonly lines: readonly string[]
  close(patienceMs?: number): Promise<void>
  authorise(): string
  request(method: string, path: string, init?: RequestInit): Promise<DriveAnswer>
  /** Exchanges a refresh token; returns the answer. */
  refresh(members?: Members): Promise<DriveAnswer>
  /** An access token; of the first call, with the configured refresh token. */
  token(): Promise<string>
  /** A call below `/adrive/v1.0/` with the token and the drive's id. */
  call(path: string, members?: Members): Promise<DriveAnswer>
  /** Creates a file, puts its parts and completes it. */
  store(name: string, parts: readonly string[], members?: Members): Promise<Record<string, unknown>>
}

/** Starts a mock drive in this process. */
export async function startTestDrive(
  env: MockEnvironment = {},
  clock: Clock = fakeClock(),
): Promise<TestDrive> {
  const lines: string[] = []
  const config = readMockDriveConfig({ MOCK_DRIVE_PORT: '0', ...env })
  const server = await startMockDrive(config, { clock, write: (line) => void lines.push(line) })
  const url = `http://127.0.0.1:${server.port}`
  const request = async (method: string, path: string, init: RequestInit = {}) =>
    toAnswer(await fetch(path.startsWith('http') ? path : `${url}${path}`, { method, ...init }))
  const refresh = (members: Members = {}) =>
    request('POST', '/oauth/access_token', {
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        grant_type: 'refresh_token',
        refresh_token: DRIVE_REFRESH_TOKEN,
        client_id: DRIVE_CLIENT_ID,
        client_secret: DRIVE_CLIENT_SECRET,
        ...members,
      }),
    })
  let known: Promise<string> | undefined
  const token = () => (known ??= refresh().then((answer) => String(answer.json()['access_token'])))
  const call = async (path: string, members: Members = {}) =>
    request('POST', `/adrive/v1.0/${path}`, {
      headers: { 'content-type': 'application/json', authorization: `Bearer ${await token()}` },
      body: JSON.stringify({ drive_id: DRIVE_ID, ...members }),
    })
  const store = async (name: string, parts: readonly string[], members: Members = {}) => {
    const created = (await call('openFile/create', newFile(name, parts.length, members))).json()
    for (const [index, part] of parts.entries()) await request('PUT', partUrl(created, index), put(part))
    return (await call('openFile/complete', idsIn(created))).json()
  }
  const close = (patienceMs?: number) => server.close(patienceMs)
  return {
    url,
    port: server.port,
    lines,
    close,
    authorise: () => server.authorise(),
    request,
    refresh,
    token,
    call,
    store,
    [Symbol.asyncDispose]: () => close(0),
  }
}

async function toAnswer(response: Response): Promise<DriveAnswer> {
  const bytes = Buffer.from(await response.arrayBuffer())
  const text = bytes.toString('utf8')
  const { status, headers } = response
  return { status, headers, text, bytes, json: () => JSON.parse(text) as Record<string, unknown> }
}

/** The members of `openFile/create` for a file in the root folder. */
export function newFile(name: string, partCount: number, members: Members = {}): Members {
  return {
    parent_file_id: 'root',
    name,
    type: 'file',
    check_name_mode: 'refuse',
    part_info_list: Array.from({ length: partCount }, (_, index) => ({ part_number: index + 1 })),
    ...members,
  }
}

/** A body without a content type. */
export function put(content: string | Uint8Array): RequestInit {
  return { body: Buffer.from(content) }
}

export function idsIn(created: Members): Members {
  return { file_id: created['file_id'], upload_id: created['upload_id'] }
}

export function partUrl(created: Members, index: number): string {
  const parts = created['part_info_list'] as { upload_url: string }[]
  return parts[index]?.upload_url ?? ''
}

export function sha1(content: string | Uint8Array): string {
  return hash('sha1', content).toUpperCase()
}

export function proofOf(token: string, content: Uint8Array): string {
  const { start, end } = proofRange(token, content.length)
  return Buffer.from(content.subarray(start, end)).toString('base64')
}

/** `MOCK_DRIVE_SCENARIOS` */
export function driveScenarios(...items: readonly Members[]): MockEnvironment {
  return { MOCK_DRIVE_SCENARIOS: JSON.stringify(items) }
}
