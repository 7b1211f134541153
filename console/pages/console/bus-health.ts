import type { AnswerOf } from '../../api/operations.ts'
import type { ResourceModel } from '../../parts/resource/resource-model.ts'
import { useResource } from '../../parts/resource/use-resource.ts'
import { useBackgroundReading } from '../../parts/use-background-reading.ts'
import { resourceOf } from './sources.ts'

type Health = AnswerOf<'getHealth'>
export type BusState = Health['checks']['bus']

// The bus sends no events about itself, so its state is asked for regularly.
const EVERY_MS = 15_000

const healthResource = resourceOf('getHealth', '', () => ({}), {
  pauseMs: 2_000,
})

/** Whether the api delivers messages to the bus. */
export function useBusHealth(): ResourceModel<Health> {
  const health = useResource(healthResource, '')
  useBackgroundReading(health, {
    mayChangeWithoutEvent: () => busStateOf(health.value.peek()) !== 'ok',
    everyMs: EVERY_MS,
    read: () => health.refresh(),
    failure: health.failure,
  })
  return health
}

/** `ok` until it is known. */
export function busStateOf(health: Health | null): BusState {
  return health?.checks.bus ?? 'ok'
}
