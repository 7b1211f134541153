import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { ApiResult } from '../api/operations.ts'
import { reportFailure } from './report-failure.ts'

/**
 * The answer of a call; null before the first one. `refresh` calls again, as does each change of `inputs`. A failure is a
 * toast, and the last answer stays.
 */
export function useAnswer<T>(send: () => Promise<ApiResult<T>>, inputs: readonly unknown[]) {
  const answer = useSignal<T | null>(null)
  const refresh = async () => {
    const result = await send()
    if (result.ok) answer.value = result.value
    else reportFailure(result.failure)
  }
  useEffect(() => void refresh(), inputs)
  return { answer: answer.value, refresh }
}
