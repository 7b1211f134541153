import { toFailure, toHttp, UNREACHABLE } from './operations.ts'
import type { ApiResult, CallerDeps, OperationName, RequestOf } from './operations.ts'

/** A file that the API has sent. */
export interface DownloadedFile {
  readonly name: string
  readonly content: Blob
}

/** The operations that answer with a file. */
type FileName = Extract<OperationName, 'getDataBackupFile' | 'getCertificatePem'>

/** Fetches the file of an operation by its name. Without a time limit: a backup may be large. */
export type DownloadOperation = <Name extends FileName>(
  name: Name,
  request: RequestOf<Name>,
) => Promise<ApiResult<DownloadedFile>>

export function createDownloader({ fetch, token, onRefused }: CallerDeps): DownloadOperation {
  return async (name, request) => {
    const bearer = token()
    const { target, init } = toHttp(name, request, bearer)
    try {
      const answer = await fetch(target, { ...init, cache: 'no-store' })
      if (answer.status === 401 && bearer !== null) onRefused(bearer)
      if (!answer.ok) return { ok: false, failure: await failureOf(answer) }
      const content = await answer.blob()
      return {
        ok: true,
        value: { name: fileName(answer.headers), content },
        etag: answer.headers.get('etag'),
      }
    } catch {
      return { ok: false, failure: UNREACHABLE }
    }
  }
}

async function failureOf(answer: Response) {
  const body: unknown = await answer.json().catch(() => undefined)
  return toFailure(answer.status, body, answer.headers.get('retry-after'))
}

/** The name that the API gives the file (RFC 6266). */
function fileName(headers: Headers): string {
  return /filename="([^"]+)"/.exec(headers.get('content-disposition') ?? '')?.[1] ?? 'download'
}
