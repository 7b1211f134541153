// The platform raises its alerts of the address pool at these shares.
const TIGHT = 0.8
const NEARLY_FULL = 0.95

/** How the use of the address pool is judged. */
export function poolTone({
  size,
  used,
}: {
  readonly size: number
  readonly used: number
}): 'good' | 'warning' | 'danger' {
  const share = size === 0 ? 1 : used / size
  if (share >= NEARLY_FULL) return 'danger'
  return share >= TIGHT ? 'warning' : 'good'
}
