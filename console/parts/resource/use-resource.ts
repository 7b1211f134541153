import { useEffect, useMemo } from 'preact/hooks'
import type { LiveEvent } from '../../api/event-stream.ts'
import type { LiveEvents } from '../../api/live.ts'
import type { ApiResult } from '../../api/operations.ts'
import { ResourceModel } from './resource-model.ts'

export interface ResourceSource<T> {
  readonly live: LiveEvents
  /** Begin of the subjects after which the object may have changed. */
  readonly prefix: string
  /** The id is empty for a source of only one object. */
  readonly read: (id: string, signal: AbortSignal) => Promise<ApiResult<T>>
  /** Whether an event is about this object; without it, each is. */
  readonly isAbout?: (event: LiveEvent, id: string) => boolean
  /** The shortest time between two readings of an object that keeps changing; without it, each event reads the object. */
  readonly pauseMs?: number
}

/** The object with this id, read again after each of its events. `source` is a constant of its module. */
export function useResource<T>(source: ResourceSource<T>, id: string): ResourceModel<T> {
  const model = useMemo(() => new ResourceModel<T>((signal) => source.read(id, signal)), [source, id])
  useEffect(() => {
    void model.refresh()
    const { live, prefix, isAbout = () => true, pauseMs = 0 } = source
    const unsubscribe = live.subscribe({
      prefix,
      onEvent(event) {
        if (isAbout(event, id)) model.refreshAfter(pauseMs)
      },
      onGap: () => void model.refresh(),
      onReturn: () => void model.retry(),
    })
    return () => {
      unsubscribe()
      model.stop()
    }
  }, [model])
  return model
}
