import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { ResourceModel } from './resource-model.ts'

// Whoever waits longer rather sees what there is.
const PATIENCE_MS = 1_500

/** Whether each of them had an answer, or some took too long: what is drawn then as a whole does not move again. */
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
