import { useEffect, useRef } from 'preact/hooks'
import { Section } from '../section.tsx'
import { Timeline, type TimelineEntry } from '../timeline.tsx'
import { ResourceView } from './resource-view.tsx'
import { useResource, type ResourceSource } from './use-resource.ts'

export interface ResourceTimelineProps<Item> {
  readonly title: string
  readonly source: ResourceSource<{ readonly items: readonly Item[] }>
  /** The id of the object. */
  readonly id: string
  /** Version of the object that is shown: another one is read with its timeline, also without an event. */
  readonly version?: string
  readonly entryOf: (item: Item, index: number) => TimelineEntry
  /** Whether an item has an entry; all of them if it is left out. */
  readonly isShown?: (item: Item) => boolean
  /** Shown without entries. */
  readonly empty?: string
  /** How many entries are shown at once; all of them if it is left out. */
  readonly most?: number
}

/** What happened to an object, read by the id of the object. */
export function ResourceTimeline<Item>(props: ResourceTimelineProps<Item>) {
  const { title, source, id, version, entryOf, isShown = () => true, empty = '', most } = props
  const model = useResource(source, id)
  const read = useRef(version)
  useEffect(() => {
    if (read.current === version) return
    read.current = version
    void model.refresh()
  }, [version])
  return (
    <Section title={title}>
      <ResourceView model={model}>
        {({ items }) => (
          <Timeline label={title} entries={items.filter(isShown).map(entryOf)} empty={empty} most={most} />
        )}
      </ResourceView>
    </Section>
  )
}
