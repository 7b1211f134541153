import { useSignal } from '@preact/signals'
import type { DownloadedFile } from '../api/download.ts'
import type { ApiResult } from '../api/operations.ts'
import type { ObjectAction } from './object-actions.tsx'
import { partWords } from './part-words.ts'
import { reportFailure } from './report-failure.ts'

// The browser has begun to read the file by then.
const KEPT_MS = 60_000

/** The action that fetches a file and saves it; its button says so while it runs. */
export function useDownload(fetchFile: () => Promise<ApiResult<DownloadedFile>>): ObjectAction {
  const isRunning = useSignal(false)
  const { download, downloading } = partWords()
  const run = async () => {
    if (isRunning.value) return
    isRunning.value = true
    const result = await fetchFile()
    isRunning.value = false
    if (result.ok) saveFile(result.value)
    else reportFailure(result.failure)
  }
  return {
    title: download,
    runningTitle: isRunning.value ? downloading : undefined,
    // Returns no promise: a download changes nothing, so that the other actions need not wait for it.
    run: () => void run(),
  }
}

/** A link cannot send the token, so the browser saves what was fetched. */
export function saveFile({ name, content }: DownloadedFile): void {
  const address = URL.createObjectURL(content)
  const link = document.createElement('a')
  link.href = address
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(address), KEPT_MS)
}
