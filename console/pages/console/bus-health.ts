import type { AnswerOf } from '../../api/operations.ts'
import type { ResourceModel } from '../../parts/resource/resource-model.ts'
import { useResource, type ResourceSource } from '../../parts/resource/use-resource.ts'
import { useQuietReading } from '../../parts/use-quiet-reading.ts'
import { call, live } from './platform.ts'

type Health = AnswerOf<'getHealth'>
export type BusState = Health['checks']['bus']

// The bus has no events. Whatever happens may be what it has not accepted, and it may go away while nothing happens.
const EVERY_MS = 15_000

const healthResource: ResourceSource<Health> = {
  live,
  prefix: '',
  read: (_, signal) => call('getHealth', {}, signal),
  isAbout: () => true,
  pauseMs: 2_000,
}

/** Whether the api delivers messages to the bus; `ok` until that is known. */
export function useBusState(): BusState {
  const health: ResourceModel<Health> = useResource(healthResource, '')
  const stateOf = (value: Health | null) => value?.checks.bus ?? 'ok'
  useQuietReading(health, {
    isUnsettled: () => stateOf(health.value.peek()) !== 'ok',
    everyMs: EVERY_MS,
    read: () => health.refresh(),
    failure: health.failure,
  })
  return stateOf(health.value.value)
}
