import { Button } from '../../../parts/button.tsx'
import { CommandLine } from '../../../parts/command-line.tsx'
import { Modal } from '../../../parts/modal.tsx'
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
    <Modal label={words.addressTitle} onClose={onClose}>
      <h2>{words.addressTitle}</h2>
      <p>{words.addressText}</p>
      {isLoopback(address) && <p class="notice-text">{words.isLocal}</p>}
      <CommandLine label={words.addressTitle} command={address} />
      <p>{words.crontab}</p>
      <CommandLine label={words.crontab} command={crontabLine({ schedule }, address)} />
      <div class="actions actions-end">
        <Button kind="main" onClick={onClose}>
          {words.addressSaved}
        </Button>
      </div>
    </Modal>
  )
}
