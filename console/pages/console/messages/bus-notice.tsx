import { Icon } from '../../../parts/icon.tsx'
import { useBusState } from '../bus-health.ts'
import { messageWords } from './words.ts'

/** Why messages wait, while the bus does not accept them. */
export function BusNotice() {
  const { bus } = messageWords()
  const state = useBusState()
  if (state === 'ok') return null
  return (
    <p class="page-notice" role="status">
      <Icon name="warning" />
      {bus[state]}
    </p>
  )
}
