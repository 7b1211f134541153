import { Type, type Static } from 'typebox'
import { Compile } from 'typebox/compile'
import { silentLogger } from '../../kernel/logger.ts'
import { SECOND } from '../../kernel/time.ts'
import type { IdentitySignature } from '../tokens/identity-signature.ts'
import { ApiConnection } from '../http/api-client/api-connection.ts'
import type { Sender } from '../http/api-client/headers-for-api.ts'

export interface PrimaryTunnelsOptions {
  /** Address of the primary's api. */
  readonly url: string
  /** Whether the primary is known to be away. */
  readonly isAway: () => boolean
  readonly signature: IdentitySignature
}

const TunnelsSchema = Type.Object({
  gateways: Type.Array(Type.Object({ name: Type.String() })),
  sessions: Type.Array(Type.Object({ connected_at: Type.String() })),
  total: Type.Integer(),
})
const Answer = Compile(TunnelsSchema)

/** Gateways and sessions as `GET /vpn/tunnels` has them, with all their fields. */
export type TunnelsBody = Static<typeof TunnelsSchema>

// The page asks every two seconds, and its own sessions must not wait for the primary.
const TIMEOUT_MS = SECOND

/** The sessions of the primary, as its api shows them to a caller. */
export class PrimaryTunnels {
  readonly #connection: ApiConnection

  constructor(options: PrimaryTunnelsOptions) {
    this.#connection = new ApiConnection({ ...options, logger: silentLogger, timeoutMs: TIMEOUT_MS })
  }

  /** Undefined when the primary does not answer. Never rejects. */
  async read(caller: Sender): Promise<TunnelsBody | undefined> {
    const request = { method: 'GET', path: '/vpn/tunnels', headers: {}, body: undefined }
    return this.#connection
      .ask(request, caller, AbortSignal.timeout(TIMEOUT_MS))
      .then(({ text }) => readTunnels(text))
      .catch(() => undefined)
  }

  close(): void {
    this.#connection.close()
  }
}

function readTunnels(text: string): TunnelsBody | undefined {
  const body: unknown = JSON.parse(text)
  return Answer.Check(body) ? body : undefined
}

/** The picture of a standby with that of its primary; `primary` tells whether the primary's sessions are in it. */
export function withPrimaryTunnels<T extends TunnelsBody>(own: T, primary: TunnelsBody | undefined) {
  if (!primary) return { ...own, primary: 'unavailable' as const }
  const names = new Set(own.gateways.map(({ name }) => name))
  return {
    ...own,
    primary: 'included' as const,
    gateways: [...own.gateways, ...primary.gateways.filter(({ name }) => !names.has(name))],
    sessions: [...own.sessions, ...primary.sessions].sort((one, other) =>
      other.connected_at.localeCompare(one.connected_at),
    ),
    total: own.total + primary.total,
  }
}
