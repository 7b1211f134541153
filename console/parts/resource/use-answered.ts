import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { ResourceModel } from './resource-model.ts'

// After this time the page shows the answers that have come.
const PATIENCE_MS = 1_500

/**
 * Whether all models have an answer, or some took too long. The page is drawn as a whole then, so that nothing moves later.
 */
export function useAnswered(models: readonly Pick<ResourceModel<unknown>, 'value' | 'failure'>[]): boolean {
  const isOver = useSignal(false)
  const isAnswered = models.every(({ value, failure }) => value.value !== null || failure.value !== null)
  useEffect(() => {
    const timer = setTimeout(() => (isOver.value = true), PATIENCE_MS)
    return () => clearTimeout(timer)
  }, [])
  useEffect(() => {
    if (isAnswered) isOver.value = true
  }, [isAnswered])
  return isOver.value || isAnswered
}
