import { CommandLine } from '../../parts/command-line.tsx'
import { EmptyState } from '../../parts/states.tsx'
import { tunnelWords } from './words.ts'

/** What to do when there is no session. */
export function Empty() {
  const words = tunnelWords()
  return (
    <EmptyState icon="tunnels" title={words.empty}>
      <p>{words.emptyHint}</p>
      <CommandLine
        label={words.command}
        command={`platform vpn connect --gateway ${location.origin} --token-file token.txt`}
      />
    </EmptyState>
  )
}
