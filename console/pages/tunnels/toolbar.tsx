import { formatCount } from '../../parts/format.ts'
import { Icon } from '../../parts/icon.tsx'
import { countByHealth, HEALTHS, HEALTH_WORDS } from './health.ts'
import { HealthMark } from './health-mark.tsx'
import type { TunnelsModel } from './model.ts'
import { toggleHealth } from './table.ts'

/** Narrows picture and table; the buttons are the legend of the picture as well. */
export function Toolbar({ model }: { readonly model: TunnelsModel }) {
  const { words, healths, sessions } = model
  const counts = countByHealth(sessions.value)
  return (
    <search class="filters">
      <label class="find-box">
        <span class="visually-hidden">Find sessions</span>
        <Icon name="search" />
        <input
          class="input"
          type="search"
          placeholder="User, device, address, gateway"
          spellcheck={false}
          autocomplete="off"
          value={words.value}
          onInput={(event) => (words.value = event.currentTarget.value)}
        />
      </label>
      <div class="actions" role="group" aria-label="Show only">
        {HEALTHS.map((health) => (
          <button
            class="button"
            type="button"
            key={health}
            aria-pressed={healths.value.has(health)}
            title={HEALTH_WORDS[health].meaning}
            onClick={() => (healths.value = toggleHealth(healths.value, health))}
          >
            <HealthMark health={health} />
            {HEALTH_WORDS[health].label}
            <span class="muted">{formatCount(counts[health])}</span>
          </button>
        ))}
      </div>
    </search>
  )
}
