import { Section } from '../section.tsx'
import { Timeline, type TimelineEntry } from '../timeline.tsx'
import { ResourceView } from './resource-view.tsx'
import { useResource, type ResourceSource } from './use-resource.ts'

export interface ResourceTimelineProps<Item> {
  readonly title: string
  readonly source: ResourceSource<{ readonly items: readonly Item[] }>
  /** The id of the object. */
  readonly id: string
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
  const { title, source, id, entryOf, isShown = () => true, empty = '', most } = props
  const model = useResource(source, id)
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
