import type { Health } from './health.ts'

/** One shape for each health, so that colour is not the only difference; drawn around 0, 0. */
const SHAPES: Readonly<Record<Health, string>> = {
  fast: 'M5 0A5 5 0 1 1 -5 0A5 5 0 1 1 5 0Z',
  fair: 'M0 -6L6 0L0 6L-6 0Z',
  slow: 'M0 -6L6 4.8H-6Z',
  measuring: 'M4.5 0A4.5 4.5 0 1 1 -4.5 0A4.5 4.5 0 1 1 4.5 0Z',
  silent: 'M-4.2 -4.2L4.2 4.2M4.2 -4.2L-4.2 4.2',
}

export function HealthShape({ health, scale = 1 }: { readonly health: Health; readonly scale?: number }) {
  return (
    <path
      class={`mark mark-${health}`}
      d={SHAPES[health]}
      transform={scale === 1 ? undefined : `scale(${scale})`}
    />
  )
}

/** The shape as a picture of its own, beside words that say the same. */
export function HealthMark({ health }: { readonly health: Health }) {
  return (
    <svg class="health-mark" viewBox="-8 -8 16 16" width="14" height="14" aria-hidden="true">
      <HealthShape health={health} />
    </svg>
  )
}
