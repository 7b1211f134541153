import { Type, type Static, type TSchema } from 'typebox'
import { Compile } from 'typebox/compile'
import type { RawData } from 'ws'
import { isRecord, jsonValueOf } from '../../src/kernel/text.ts'

// A timer waits at most 2^31−1 ms.
const MAX_HEARTBEAT_SECONDS = 2_000_000

// Further fields are ignored: a newer gateway may send more.
const FRAMES = {
  session: Type.Object({
    session_id: Type.String(),
    virtual_ip: Type.String({ pattern: '^\\d{1,3}(\\.\\d{1,3}){3}$' }),
    heartbeat_seconds: Type.Number({ exclusiveMinimum: 0, maximum: MAX_HEARTBEAT_SECONDS }),
  }),
  heartbeat: Type.Object({ seq: Type.Number() }),
  response: Type.Object({
    id: Type.String(),
    status: Type.Integer(),
    headers: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
    body: Type.Optional(Type.Unknown()),
  }),
  error: Type.Object({
    id: Type.Optional(Type.String()),
    code: Type.String(),
    message: Type.String(),
  }),
  expiring: Type.Object({ at: Type.String() }),
  renewed: Type.Object({ at: Type.String() }),
} satisfies Record<string, TSchema>

type FrameType = keyof typeof FRAMES
export type ServerFrame = { [T in FrameType]: { readonly type: T } & Static<(typeof FRAMES)[T]> }[FrameType]
export type ResponseFrame = Extract<ServerFrame, { type: 'response' }>

export type ClientFrame =
  | { readonly type: 'heartbeat_ack'; readonly seq: number }
  | { readonly type: 'renew'; readonly token: string }
  | {
      readonly type: 'request'
      readonly id: string
      readonly method: string
      readonly path: string
      readonly headers?: Readonly<Record<string, string>>
      readonly body?: unknown
    }

const isFrame = Object.fromEntries(
  Object.entries(FRAMES).map(([type, schema]) => {
    const validator = Compile(schema)
    return [type, (value: unknown) => validator.Check(value)]
  }),
)

/** A frame of the gateway; `unknown` for a type that this client does not know, `unreadable` for anything else. */
export function readFrame(text: string): ServerFrame | 'unknown' | 'unreadable' {
  const value = jsonValueOf(text)
  const type = isRecord(value) ? value['type'] : undefined
  if (typeof type !== 'string') return 'unreadable'
  if (!Object.hasOwn(FRAMES, type)) return 'unknown'
  return isFrame[type]?.(value) ? (value as ServerFrame) : 'unreadable'
}

/** The text of a text frame. */
export function textOf(data: RawData): string {
  // The library's default, `nodebuffer`, delivers every message as one Buffer.
  return Buffer.isBuffer(data) ? data.toString() : ''
}
