import { formatCount } from '../../parts/format.ts'
import { countByHealth, HEALTHS, HEALTH_WORDS } from './health.ts'
import { HealthMark } from './health-mark.tsx'
import type { TunnelsModel } from './model.ts'
import { toggleHealth } from './table.ts'

/** Narrows picture and table; the buttons are the legend of the picture as well. */
export function Toolbar({ model }: { readonly model: TunnelsModel }) {
  const { words, healths, sessions } = model
  const counts = countByHealth(sessions.value)
  return (
    <search class="toolbar">
      <label class="find">
        <span class="visually-hidden">Find sessions</span>
        <svg class="find-icon" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
          <circle cx="7" cy="7" r="4.5" />
          <path d="M10.5 10.5L14 14" />
        </svg>
        <input
          type="search"
          placeholder="User, device, address, gateway"
          spellcheck={false}
          autocomplete="off"
          value={words.value}
          onInput={(event) => (words.value = event.currentTarget.value)}
        />
      </label>
      <div class="chips" role="group" aria-label="Show only">
        {HEALTHS.map((health) => (
          <button
            class="chip"
            type="button"
            key={health}
            aria-pressed={healths.value.has(health)}
            title={HEALTH_WORDS[health].meaning}
            onClick={() => (healths.value = toggleHealth(healths.value, health))}
          >
            <HealthMark health={health} />
            {HEALTH_WORDS[health].label}
            <span class="chip-count">{formatCount(counts[health])}</span>
          </button>
        ))}
      </div>
    </search>
  )
}
