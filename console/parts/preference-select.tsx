import { Icon } from './icon.tsx'
import type { IconName } from './icons.ts'

export interface PreferenceSelectProps<Value extends string> {
  readonly icon: IconName
  readonly label: string
  readonly value: Value
  readonly choices: readonly (readonly [value: Value, name: string])[]
  readonly onChange: (value: Value) => void
}

/** An icon that opens a list of choices. */
export function PreferenceSelect<Value extends string>(props: PreferenceSelectProps<Value>) {
  const { icon, label, value, choices, onChange } = props
  return (
    <label class="preference" title={label}>
      <Icon name={icon} />
      <select
        aria-label={label}
        value={value}
        onChange={({ currentTarget }) => {
          const chosen = choices.find(([each]) => each === currentTarget.value)
          if (chosen) onChange(chosen[0])
        }}
      >
        {choices.map(([each, name]) => (
          <option key={each} value={each}>
            {name}
          </option>
        ))}
      </select>
    </label>
  )
}
