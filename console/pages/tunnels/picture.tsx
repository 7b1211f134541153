import { useComputed, useSignal, type Signal } from '@preact/signals'
import { useLayoutEffect, useRef, useEffect, useReducer } from 'preact/hooks'
import { useActions } from '../../parts/actions/actions.ts'
import { formatRtt } from '../../parts/format.ts'
import { describeNode } from './describe.ts'
import { Details } from './details.tsx'
import type { Frame } from './frame.ts'
import { sessionKey, type GatewayNode } from './graph.ts'
import { layoutGraph } from './layout.ts'
import type { TunnelsModel } from './model.ts'
import { relatives, stepFor } from './navigation.ts'
import { NodeShape } from './picture-nodes.tsx'
import type { Layout, PlacedNode, PlacedEdge } from './placed.ts'
import { presentItems, type AnimatedItem } from './presence.ts'
import { tunnelWords } from './words.ts'

// As many as a phone shows on two screens, and a desk on one.
const MOST_USERS = { narrow: 24, wide: 120 }
const NARROW_BELOW = 560

/** The live graph. */
export function Picture({ model }: { readonly model: TunnelsModel }) {
  const place = useRef<HTMLDivElement>(null)
  const width = useSignal(0)
  const moreUsers = useSignal(0)
  /** Whether details are put away until the next thing is pointed at. */
  const isQuiet = useSignal(false)
  useWidth(place, width)
  const clear = () => {
    isQuiet.value = true
    model.selected.value = null
  }
  useActions(() => [{ title: tunnelWords().showAll, keys: 'Escape', isKeyOnly: true, run: clear }])

  const layout = useComputed(() => {
    const mostUsers = moreUsers.value + (width.value < NARROW_BELOW ? MOST_USERS.narrow : MOST_USERS.wide)
    const expanded = openedUsers(model.graph.value, model.selected.value)
    return width.value === 0
      ? null
      : layoutGraph(model.graph.value, { width: width.value, expanded, mostUsers })
  })

  const drawn = layout.value
  return (
    <div class="picture" ref={place}>
      {drawn && (
        <Drawing
          layout={drawn}
          model={model}
          isQuiet={isQuiet}
          showMore={() => (moreUsers.value += MOST_USERS.wide)}
        />
      )}
    </div>
  )
}

interface DrawingProps {
  readonly layout: Layout
  readonly model: TunnelsModel
  readonly isQuiet: Signal<boolean>
  readonly showMore: () => void
}

function Drawing({ layout, model, isQuiet, showMore }: DrawingProps) {
  const svg = useRef<SVGSVGElement>(null)
  const tabStopKey = useSignal<string | null>(null)
  const nodes = usePresence(layout.nodes)
  const edges = usePresence(layout.edges)
  const pointed = nodeOf(layout.nodes, model.graph.value, model.pointed.value)
  const selected = nodeOf(layout.nodes, model.graph.value, model.selected.value)
  const highlighted = pointed ?? selected
  const related = highlighted ? relatives(layout.nodes, highlighted.key) : null
  const isFaint = (key: string) => related !== null && !related.has(key)
  const at = model.state.value?.at ?? 0
  const tabStop = layout.nodes.find(({ key }) => key === tabStopKey.value) ?? layout.nodes[0]

  const actions = createActions({ layout, model, isQuiet, showMore, svg, tabStopKey })

  return (
    <>
      <svg
        ref={svg}
        class="drawing"
        role="tree"
        aria-label={tunnelWords().tree}
        width={layout.frame.width}
        height={layout.height}
        onPointerLeave={() => actions.point(null)}
      >
        <Edges edges={edges} isFaint={isFaint} />
        {nodes.map(({ key, value, phase }) => (
          <TreeItem
            key={key}
            node={value}
            phase={phase}
            frame={layout.frame}
            at={at}
            isFaint={isFaint(key)}
            isSelected={key === selected?.key}
            isTabStop={key === tabStop?.key}
            actions={actions}
          />
        ))}
      </svg>
      {pointed && !isQuiet.value && <Details node={pointed} layout={layout} at={at} />}
    </>
  )
}

interface ActionDeps extends DrawingProps {
  readonly svg: { readonly current: SVGSVGElement | null }
  readonly tabStopKey: Signal<string | null>
}

function createActions({ layout, model, isQuiet, showMore, svg, tabStopKey }: ActionDeps): TreeItemActions {
  const point = (key: string | null) => {
    isQuiet.value = false
    model.pointed.value = key
  }
  const focus = (key: string) => {
    tabStopKey.value = key
    point(key)
  }
  const select = (node: PlacedNode) => {
    if (node.kind === 'more') return showMore()
    if (node.kind === 'rest') return
    model.selected.value = model.selected.value === node.key ? null : node.key
  }
  const onKeyDown = (event: KeyboardEvent, node: PlacedNode) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return
    const step = stepFor(event.key, layout.nodes, node.key)
    if (step === 'none') return
    event.preventDefault()
    if (step === 'select') select(node)
    else focusNode(svg.current, step.go)
  }
  return { point, focus, select, onKeyDown }
}

function focusNode(svg: SVGSVGElement | null, key: string): void {
  const node = svg?.querySelector(`[data-key="${CSS.escape(key)}"]`)
  if (!(node instanceof SVGElement)) return
  // At once, not with the next drawing: the tab key must find its one stop even when it is pressed right after.
  svg?.querySelector('[tabindex="0"]')?.setAttribute('tabindex', '-1')
  node.setAttribute('tabindex', '0')
  node.focus()
}

/** The user that is selected, or whose address is: theirs are drawn one by one. */
function openedUsers(graph: readonly GatewayNode[], selected: string | null): ReadonlySet<string> {
  const opened = graph
    .flatMap(({ users }) => users)
    .filter(
      ({ key, sessions }) => key === selected || sessions.some((session) => sessionKey(session) === selected),
    )
  return new Set(opened.map(({ key }) => key))
}

/** The node with this key; for an address that has none of its own, that of its user. */
function nodeOf(
  nodes: readonly PlacedNode[],
  graph: readonly GatewayNode[],
  key: string | null,
): PlacedNode | undefined {
  if (key === null) return undefined
  const owner = openedUsers(graph, key)
  return nodes.find((node) => node.key === key) ?? nodes.find((node) => owner.has(node.key))
}

function useWidth(place: { readonly current: HTMLElement | null }, width: Signal<number>): void {
  useLayoutEffect(() => {
    if (!place.current) return undefined
    const measure = () => (width.value = Math.floor(place.current?.clientWidth ?? 0))
    const observer = new ResizeObserver(measure)
    observer.observe(place.current)
    measure()
    return () => observer.disconnect()
  }, [])
}

// A little longer than the transitions of picture.css.
const PHASE_MS = 700

/** The items, and for a moment the removed ones, so that their removal can be animated. */
function usePresence<T extends { readonly key: string }>(next: readonly T[]): readonly AnimatedItem<T>[] {
  const present = useRef<readonly AnimatedItem<T>[]>([])
  const [, redraw] = useReducer<number, undefined>((count) => count + 1, 0)
  present.current = presentItems(present.current, next, performance.now(), PHASE_MS)
  const isChanging = present.current.some(({ phase }) => phase !== 'here')
  useEffect(() => {
    if (!isChanging) return undefined
    const timer = setTimeout(() => redraw(undefined), PHASE_MS)
    return () => clearTimeout(timer)
  })
  return present.current
}

interface EdgeProps {
  readonly edge: PlacedEdge
  readonly phase: AnimatedItem<PlacedEdge>['phase']
  readonly isFaint: boolean
}

function EdgeLine({ edge, phase, isFaint }: EdgeProps) {
  const classes = `edge edge-${edge.health} ${phase}${isFaint ? ' faint' : ''}`
  return <path class={classes} d={edge.path} stroke-width={thickness(edge.sessions)} />
}

/** Grows with the logarithm: a hundred sessions are not to look a hundred times as important as one. */
function thickness(sessions: number): number {
  return Math.min(4, 1.4 + 0.4 * Math.log2(Math.max(1, sessions)))
}

interface EdgeTimeProps extends EdgeProps {
  readonly label: NonNullable<PlacedEdge['label']>
}

function EdgeTime({ edge, label, phase, isFaint }: EdgeTimeProps) {
  return (
    <text
      class={`edge-time edge-time-${edge.health} ${phase}${isFaint ? ' faint' : ''}`}
      style={{ transform: `translate(${label.x}px, ${label.y}px)` }}
      text-anchor="middle"
      dy="0.35em"
    >
      {formatRtt(label.rttMs)}
    </text>
  )
}

interface EdgesProps {
  readonly edges: readonly AnimatedItem<PlacedEdge>[]
  readonly isFaint: (key: string) => boolean
}

/** All lines, and the round-trip times on top of them. */
function Edges({ edges, isFaint }: EdgesProps) {
  return (
    <g aria-hidden="true">
      {edges.map(({ key, value, phase }) => (
        <EdgeLine key={key} edge={value} phase={phase} isFaint={isFaint(value.to) || isFaint(value.from)} />
      ))}
      {edges.map(({ key, value, phase }) =>
        value.label ? (
          <EdgeTime key={key} edge={value} label={value.label} phase={phase} isFaint={isFaint(value.to)} />
        ) : null,
      )}
    </g>
  )
}

interface TreeItemActions {
  /** Marks the node under the pointer or with the focus; null for none. */
  point(key: string | null): void
  focus(key: string): void
  select(node: PlacedNode): void
  onKeyDown(event: KeyboardEvent, node: PlacedNode): void
}

interface TreeItemProps {
  readonly node: PlacedNode
  readonly phase: AnimatedItem<PlacedNode>['phase']
  readonly frame: Frame
  readonly at: number
  readonly isFaint: boolean
  readonly isSelected: boolean
  readonly isTabStop: boolean
  readonly actions: TreeItemActions
}

/** A node as an item of the tree, with its label and its keys. */
function TreeItem({ node, phase, frame, at, isFaint, isSelected, isTabStop, actions }: TreeItemProps) {
  return (
    <g
      data-key={node.key}
      class={nodeClass(node, phase, isFaint, isSelected)}
      style={{ transform: `translate(${node.x}px, ${node.y}px)` }}
      role={phase === 'leaving' ? 'none' : 'treeitem'}
      aria-hidden={phase === 'leaving'}
      aria-level={LEVELS[node.kind]}
      aria-selected={isSelected}
      aria-expanded={node.kind === 'user' ? node.form === 'box' : undefined}
      aria-label={describeNode(node, at)}
      tabindex={isTabStop ? 0 : -1}
      onPointerEnter={() => actions.point(node.key)}
      onFocus={() => actions.focus(node.key)}
      onBlur={() => actions.point(null)}
      onClick={() => actions.select(node)}
      onKeyDown={(event) => actions.onKeyDown(event, node)}
    >
      <g class="node-inner">
        <NodeShape node={node} frame={frame} at={at} />
      </g>
    </g>
  )
}

function nodeClass(node: PlacedNode, phase: string, isFaint: boolean, isSelected: boolean): string {
  const form = node.kind === 'user' ? node.form : node.kind
  return ['node', `node-${form}`, phase, isFaint && 'faint', isSelected && 'selected']
    .filter(Boolean)
    .join(' ')
}

const LEVELS: Readonly<Record<PlacedNode['kind'], number>> = {
  gateway: 1,
  user: 2,
  more: 2,
  session: 3,
  rest: 3,
}
