import { localNumber } from '../../i18n/local.ts'
import { useActions } from '../../parts/actions/actions.ts'
import { Icon } from '../../parts/icon.tsx'
import { focusFindBox } from '../../parts/list/find-box.tsx'
import { countByHealth, HEALTHS } from './health.ts'
import { HealthMark } from './health-mark.tsx'
import type { TunnelsModel } from './model.ts'
import { toggleHealth } from './table.ts'
import { tunnelWords } from './words.ts'

/** Narrows picture and table; the buttons are the legend of the picture as well. */
export function Toolbar({ model }: { readonly model: TunnelsModel }) {
  const { find, findHint, showOnly, healths: healthWords } = tunnelWords()
  const { words, healths, sessions } = model
  useActions(() => [{ title: find, keys: '/', run: focusFindBox }])
  const counts = countByHealth(sessions.value)
  return (
    <search class="filters">
      <label class="find-box">
        <span class="visually-hidden">{find}</span>
        <Icon name="search" />
        <input
          class="input"
          type="search"
          placeholder={findHint}
          spellcheck={false}
          autocomplete="off"
          value={words.value}
          onInput={(event) => (words.value = event.currentTarget.value)}
        />
      </label>
      <div class="actions" role="group" aria-label={showOnly}>
        {HEALTHS.map((health) => (
          <button
            class="button"
            type="button"
            key={health}
            aria-pressed={healths.value.has(health)}
            title={healthWords[health].meaning}
            onClick={() => (healths.value = toggleHealth(healths.value, health))}
          >
            <HealthMark health={health} />
            {healthWords[health].label}
            <span class="muted">{localNumber(counts[health])}</span>
          </button>
        ))}
      </div>
    </search>
  )
}
