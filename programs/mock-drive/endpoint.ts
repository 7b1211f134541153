import type { Answer } from './answers.ts'
import type { Call } from './call.ts'
import type { MockDrive } from './drive.ts'
import { PATHS, type EndpointName } from './endpoint-names.ts'
import { asyncTaskGet, copy, move, remove, trash, update } from './endpoints/change.ts'
import { create } from './endpoints/create.ts'
import { download, getDownloadUrl } from './endpoints/download.ts'
import { batchGet, get, getByPath, list, search } from './endpoints/look-up.ts'
import {
  accessToken,
  getDriveInfo,
  getSpaceInfo,
  getVipInfo,
  usersInfo,
  usersScopes,
} from './endpoints/oauth.ts'
import { complete, getUploadUrl, listUploadedParts, putPart, uploadPart } from './endpoints/parts.ts'

export interface Endpoint {
  readonly name: EndpointName
  readonly method: 'GET' | 'POST' | 'PUT'
  /** Whether the request needs an access token. */
  readonly needsToken: boolean
  /** `raw` endpoints read the body themselves. */
  readonly body: 'json' | 'form_or_json' | 'raw' | 'none'
  /** Whether the state has to be stored after it. */
  readonly changes: boolean
  answer(drive: MockDrive, call: Call): Answer | Promise<Answer>
}

const api = { method: 'POST', needsToken: true, body: 'json', changes: false } as const
const change = { ...api, changes: true } as const
const open = { needsToken: false, changes: false, body: 'none' } as const

/** Every endpoint, in the order of docs/guide/mock-drive.md. */
export const ENDPOINTS: readonly Endpoint[] = [
  { ...change, name: 'access_token', needsToken: false, body: 'form_or_json', answer: accessToken },
  { ...open, name: 'users_info', method: 'GET', needsToken: true, answer: usersInfo },
  { ...open, name: 'users_scopes', method: 'GET', needsToken: true, answer: usersScopes },
  { ...api, name: 'getDriveInfo', answer: getDriveInfo },
  { ...api, name: 'getSpaceInfo', answer: getSpaceInfo },
  { ...api, name: 'getVipInfo', answer: getVipInfo },
  { ...change, name: 'create', answer: create },
  { ...api, name: 'getUploadUrl', answer: getUploadUrl },
  { ...change, name: 'put', method: 'PUT', needsToken: false, body: 'raw', answer: putPart },
  { ...change, name: 'uploadPart', body: 'raw', answer: uploadPart },
  { ...api, name: 'listUploadedParts', answer: listUploadedParts },
  { ...change, name: 'complete', answer: complete },
  { ...api, name: 'list', answer: list },
  { ...api, name: 'search', answer: search },
  { ...api, name: 'get', answer: get },
  { ...api, name: 'get_by_path', answer: getByPath },
  { ...api, name: 'batch_get', answer: batchGet },
  { ...api, name: 'getDownloadUrl', answer: getDownloadUrl },
  { ...open, name: 'download', method: 'GET', answer: download },
  { ...change, name: 'update', answer: update },
  { ...change, name: 'move', answer: move },
  { ...change, name: 'copy', answer: copy },
  { ...change, name: 'trash', answer: trash },
  { ...change, name: 'delete', answer: remove },
  { ...api, name: 'async_task_get', answer: asyncTaskGet },
]

const byPath = new Map<string, Endpoint>(ENDPOINTS.map((endpoint) => [PATHS[endpoint.name], endpoint]))
const SIGNED = /^(\/upload|\/download)\/[^/]+(?:\/\d{1,5})?$/

/** The endpoint of a path, whatever the method. */
export function endpointAt(path: string): Endpoint | undefined {
  const signed = SIGNED.exec(path)?.[1]
  if (signed !== undefined) return byPath.get(signed)
  const endpoint = byPath.get(path)
  return endpoint?.name === 'put' || endpoint?.name === 'download' ? undefined : endpoint
}
