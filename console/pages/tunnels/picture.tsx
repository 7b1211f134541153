import { useComputed, useSignal, type Signal } from '@preact/signals'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { Details } from './details.tsx'
import { sessionKey, type GatewayNode } from './graph.ts'
import { layoutGraph } from './layout.ts'
import type { Layout, PlacedNode } from './placed.ts'
import type { TunnelsModel } from './model.ts'
import { relatives, stepFor } from './navigation.ts'
import { EdgeLine, EdgeTime } from './picture-edges.tsx'
import { NodeShape } from './picture-nodes.tsx'
import { usePresence } from './use-presence.ts'
import { describeNode } from './words.ts'

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
  const stop = useSignal<string | null>(null)
  const nodes = usePresence(layout.nodes)
  const edges = usePresence(layout.edges)
  const pointed = nodeOf(layout.nodes, model.graph.value, model.pointed.value)
  const selected = nodeOf(layout.nodes, model.graph.value, model.selected.value)
  const lit = pointed ?? selected
  const related = lit ? relatives(layout.nodes, lit.key) : null
  const isFaint = (key: string) => related !== null && !related.has(key)
  const at = model.state.value?.at ?? 0
  const tabStop = layout.nodes.find(({ key }) => key === stop.value) ?? layout.nodes[0]

  const point = (key: string | null) => {
    isQuiet.value = false
    model.pointed.value = key
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
    else if (step === 'clear') {
      isQuiet.value = true
      model.selected.value = null
    } else focusNode(svg.current, step.go)
  }

  return (
    <>
      <svg
        ref={svg}
        class="drawing"
        role="tree"
        aria-label="Gateways, their users and virtual addresses"
        width={layout.frame.width}
        height={layout.height}
        onPointerLeave={() => point(null)}
      >
        <g aria-hidden="true">
          {edges.map(({ key, value, phase }) => (
            <EdgeLine
              key={key}
              edge={value}
              phase={phase}
              isFaint={isFaint(value.to) || isFaint(value.from)}
            />
          ))}
          {edges.map(({ key, value, phase }) =>
            value.label ? (
              <EdgeTime
                key={key}
                edge={value}
                label={value.label}
                phase={phase}
                isFaint={isFaint(value.to)}
              />
            ) : null,
          )}
        </g>
        {nodes.map(({ key, value, phase }) => (
          <g
            key={key}
            data-key={key}
            class={nodeClass(value, phase, isFaint(key), key === selected?.key)}
            style={{ transform: `translate(${value.x}px, ${value.y}px)` }}
            role={phase === 'leaving' ? 'none' : 'treeitem'}
            aria-hidden={phase === 'leaving'}
            aria-level={levelOf(value)}
            aria-selected={key === selected?.key}
            aria-expanded={value.kind === 'user' ? value.form === 'box' : undefined}
            aria-label={describeNode(value, at)}
            tabindex={key === tabStop?.key ? 0 : -1}
            onPointerEnter={() => point(key)}
            onFocus={() => {
              stop.value = key
              point(key)
            }}
            onBlur={() => point(null)}
            onClick={() => select(value)}
            onKeyDown={(event) => onKeyDown(event, value)}
          >
            <g class="node-inner">
              <NodeShape node={value} frame={layout.frame} at={at} />
            </g>
          </g>
        ))}
      </svg>
      {pointed && !isQuiet.value && <Details node={pointed} layout={layout} at={at} />}
    </>
  )
}

function nodeClass(node: PlacedNode, phase: string, isFaint: boolean, isSelected: boolean): string {
  const form = node.kind === 'user' ? node.form : node.kind
  return ['node', `node-${form}`, phase, isFaint && 'faint', isSelected && 'selected']
    .filter(Boolean)
    .join(' ')
}

function levelOf({ kind }: PlacedNode): number {
  return kind === 'gateway' ? 1 : kind === 'user' || kind === 'more' ? 2 : 3
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
    .filter(({ key, sessions }) => key === selected || sessions.some((each) => sessionKey(each) === selected))
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
