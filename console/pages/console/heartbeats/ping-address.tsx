import { CommandLine } from '../../../parts/command-line.tsx'
import { ShownOnce } from '../../../parts/shown-once.tsx'
import { crontabLine, isLoopback, pingAddress, type Heartbeat } from './model.ts'
import { heartbeatWords } from './words.ts'

interface PingAddressProps extends Pick<Heartbeat, 'schedule'> {
  readonly pingUrl: string
  readonly onClose: () => void
}

/** The address of a heartbeat, which nobody can read again, and the line of a crontab that calls it. */
export function PingAddress({ schedule, pingUrl, onClose }: PingAddressProps) {
  const words = heartbeatWords()
  const address = pingAddress(pingUrl, location.origin)
  return (
    <ShownOnce
      words={words.address}
      secret={address}
      warning={isLoopback(address) ? words.isLocal : undefined}
      onClose={onClose}
    >
      <p>{words.crontab}</p>
      <CommandLine label={words.crontab} command={crontabLine({ schedule }, address)} />
    </ShownOnce>
  )
}
