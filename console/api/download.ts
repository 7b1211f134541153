import { toFailure, toHttp, UNREACHABLE } from './operations.ts'
import type { ApiResult, CallerDeps, OperationName, RequestOf } from './operations.ts'

/** A file that the API has sent. */
export interface DownloadedFile {
  readonly name: string
  readonly content: Blob
}

/** The operations that answer with a file. */
type FileOperation = Extract<OperationName, 'getDataBackupFile' | 'getCertificatePem'>

/** Fetches the file of an operation. There is no time limit, because a backup may be large. */
export type DownloadOperation = <Name extends FileOperation>(
  name: Name,
  request: RequestOf<Name>,
) => Promise<ApiResult<DownloadedFile>>

export function createDownloader(deps: CallerDeps): DownloadOperation {
  return (name, request) => fetchFile(deps, name, request)
}

// Without this mark a spreadsheet reads UTF-8 in another encoding.
const BYTE_ORDER_MARK = '\uFEFF'

/** Fetches all pages of a list as one table. */
export type DownloadList = (
  name: OperationName,
  query: Readonly<Record<string, string>>,
) => Promise<ApiResult<DownloadedFile>>

export function createListDownloader(deps: CallerDeps): DownloadList {
  return async (name, query) => {
    const result = await fetchFile(deps, name, { query }, 'text/csv')
    if (!result.ok) return result
    const content = new Blob([BYTE_ORDER_MARK, result.value.content], { type: result.value.content.type })
    return { ...result, value: { ...result.value, content } }
  }
}

async function fetchFile(
  { fetch, token, onRefused }: CallerDeps,
  name: OperationName,
  request: Parameters<typeof toHttp>[1],
  accept?: string,
): Promise<ApiResult<DownloadedFile>> {
  const bearer = token()
  const { target, init } = toHttp(name, request, bearer)
  const headers = { ...init.headers, ...(accept !== undefined && { accept }) }
  try {
    const response = await fetch(target, { ...init, headers, cache: 'no-store' })
    if (response.status === 401 && bearer !== null) onRefused(bearer)
    if (!response.ok) return { ok: false, failure: await failureOf(response) }
    const content = await response.blob()
    return {
      ok: true,
      value: { name: fileName(response.headers), content },
      etag: response.headers.get('etag'),
    }
  } catch {
    return { ok: false, failure: UNREACHABLE }
  }
}

async function failureOf(response: Response) {
  const body: unknown = await response.json().catch(() => undefined)
  return toFailure(response.status, body, response.headers.get('retry-after'))
}

/** The name that the API gives the file (RFC 6266). */
function fileName(headers: Headers): string {
  return /filename="([^"]+)"/.exec(headers.get('content-disposition') ?? '')?.[1] ?? 'download'
}
