import { hash, randomBytes } from 'node:crypto'
import { Agent, request as httpRequest, type IncomingHttpHeaders } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { readMockConfig } from '../../programs/mock-oidc/env.ts'
import type { MockEnvironment } from '../../programs/mock-server/variables.ts'
import { startMockOidc } from '../../programs/mock-oidc/index.ts'
import type { Clock } from '../../src/kernel/clock.ts'
import { fakeClock } from './clock.ts'

export const CLIENT_ID = 'cli_mock_docvalue_0001'
export const CLIENT_SECRET = 'mock_secret_docvalue_0001'
export const REDIRECT_URI = 'http://127.0.0.1:9989/auth/oauth/callback'

export interface RawAnswer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
  /** The body, which must be a JSON object. */
  json(): Record<string, unknown>
}

export interface RawRequest {
  readonly headers?: Readonly<Record<string, string | string[]>>
  readonly body?: string | Uint8Array
}

export type Fields = Readonly<Record<string, string | undefined>>

export interface TestProvider extends AsyncDisposable {
  readonly url: string
  readonly port: number
  /** The lines of the request log. */
  readonly lines: readonly string[]
  readonly remembered: () => number
  close(patienceMs?: number): Promise<void>
  request(method: string, path: string, options?: RawRequest): Promise<RawAnswer>
  /** Requests a code, by default for the default client and redirect URI. */
  authorize(parameters?: Fields): Promise<RawAnswer>
  /** The code from `authorize`. */
  code(parameters?: Fields): Promise<string>
  /** Posts a form, by default with every field that a code without PKCE needs. */
  token(fields: Fields, headers?: Readonly<Record<string, string>>): Promise<RawAnswer>
  userinfo(accessToken: unknown): Promise<RawAnswer>
}

/** Starts a provider in this process, on a free port that is also in its issuer. */
export async function startTestProvider(
  env: MockEnvironment = {},
  clock: Clock = fakeClock(),
): Promise<TestProvider> {
  const lines: string[] = []
  const config = readMockConfig({ MOCK_PORT: '0', MOCK_ISSUER: 'http://127.0.0.1:0', ...env })
  const server = await startMockOidc(config, { clock, write: (line) => void lines.push(line) })
  const agent = new Agent({ keepAlive: true })
  const url = `http://127.0.0.1:${server.port}`
  const request = (method: string, path: string, options: RawRequest = {}) =>
    rawRequest(agent, server.port, method, path, options)
  const authorize = (parameters: Fields = {}) =>
    request('GET', `/authorize?${form({ client_id: CLIENT_ID, redirect_uri: REDIRECT_URI, ...parameters })}`)
  const close = async (patienceMs?: number) => {
    agent.destroy()
    await server.close(patienceMs)
  }
  return {
    url,
    port: server.port,
    lines,
    remembered: () => server.remembered,
    close,
    request,
    authorize,
    code: async (parameters) => queryOf(await authorize(parameters)).get('code') ?? '',
    token: (fields, headers = {}) =>
      request('POST', '/token', {
        headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
        body: form({
          grant_type: 'authorization_code',
          client_id: CLIENT_ID,
          client_secret: CLIENT_SECRET,
          redirect_uri: REDIRECT_URI,
          ...fields,
        }),
      }),
    userinfo: (accessToken) =>
      request('GET', '/userinfo', { headers: { authorization: `Bearer ${String(accessToken)}` } }),
    [Symbol.asyncDispose]: () => close(0),
  }
}

/** Omits undefined fields. */
export function form(fields: Fields): string {
  const given = Object.entries(fields).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value]],
  )
  return new URLSearchParams(given).toString()
}

/** The query parameters of a redirect. */
export function queryOf({ headers }: RawAnswer): URLSearchParams {
  return new URL(headers.location ?? '').searchParams
}

export function newPkce(): { code_verifier: string; code_challenge: string } {
  const verifier = randomBytes(32).toString('base64url')
  return { code_verifier: verifier, code_challenge: hash('sha256', verifier, 'base64url') }
}

async function rawRequest(
  agent: Agent,
  port: number,
  method: string,
  path: string,
  { headers = {}, body }: RawRequest,
): Promise<RawAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<RawAnswer>()
  const outgoing = httpRequest({ host: '127.0.0.1', port, agent, method, path, headers }, (incoming) => {
    buffer(incoming).then((bytes) => {
      const text = bytes.toString('utf8')
      resolve({
        status: incoming.statusCode ?? 0,
        headers: incoming.headers,
        text,
        json: () => JSON.parse(text) as Record<string, unknown>,
      })
    }, reject)
  })
  outgoing.on('error', reject)
  outgoing.end(body)
  return promise
}
