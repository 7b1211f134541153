import { BODIES } from '../../../api/generated.ts'
import type { ApiResult, BodyOf } from '../../../api/operations.ts'
import { localSeconds } from '../../../i18n/local.ts'
import { CreateDialog } from '../../../parts/form/create-dialog.tsx'
import type { FormSchema } from '../../../parts/form/form-fields.ts'
import { invalidFields, type OwnFault } from '../../../parts/form/invalid-fields.ts'
import type { NewItemDialog } from '../../../parts/list/new-item.tsx'
import { alertWords } from '../alerts/words.ts'
import { call } from '../platform.ts'
import { SEVERITIES, type Heartbeat } from './model.ts'
import { periodText, secondsOf } from './period.ts'
import { heartbeatWords } from './words.ts'

// People write `1d`; the API takes seconds.
const SCHEMA: FormSchema = {
  required: ['name', 'every'],
  properties: {
    name: { type: 'string' },
    every: { type: 'string' },
    grace: { type: 'string' },
    severity: { type: 'string', enum: SEVERITIES },
    source: { type: 'string' },
  },
}

interface Entered {
  readonly name?: string
  readonly every?: string
  readonly grace?: string
  readonly severity?: string
  readonly source?: string
}

const quickValues = {
  every: [300, 3_600, 86_400, 604_800].map(quickPeriod),
  grace: [300, 3_600].map(quickPeriod),
}

function quickPeriod(seconds: number) {
  return { label: periodText(seconds), valueOf: () => periodText(seconds) }
}

interface HeartbeatFormProps {
  /** The heartbeat that is edited; without one the form creates another. */
  readonly heartbeat?: Heartbeat
  readonly onDone: (heartbeat: Heartbeat) => void
  readonly onClose: () => void
}

function HeartbeatForm({ heartbeat, onDone, onClose }: HeartbeatFormProps) {
  const words = heartbeatWords()
  const { severities } = alertWords()
  const { name, ...others } = words.formFields
  return (
    <CreateDialog
      title={heartbeat ? words.editTitle(heartbeat.name) : words.newHeartbeat}
      schema={SCHEMA}
      labels={heartbeat ? others : { name, ...others }}
      hints={words.hints}
      labelOf={(_, value) => severities[value as Heartbeat['severity']]}
      quickValues={quickValues}
      initial={initialOf(heartbeat)}
      action={heartbeat ? words.save : words.create}
      create={(body) => (heartbeat ? put(heartbeat.name, body) : putNew(body))}
      doneOf={(saved) => words.saved(saved.name, localSeconds(saved.every_seconds))}
      onCreated={onDone}
      onClose={onClose}
    />
  )
}

/** Asks for the name and the periods of a heartbeat. */
export function NewHeartbeat({ onClose, onCreated }: NewItemDialog) {
  return <HeartbeatForm onDone={({ name }) => onCreated(name)} onClose={onClose} />
}

export interface EditHeartbeatProps {
  readonly heartbeat: Heartbeat
  readonly onSaved: () => void
  readonly onClose: () => void
}

/** Asks for other periods of a heartbeat, and for another severity or source of its alert. */
export function EditHeartbeat({ heartbeat, onSaved, onClose }: EditHeartbeatProps) {
  const onDone = () => {
    onSaved()
    onClose()
  }
  return <HeartbeatForm heartbeat={heartbeat} onDone={onDone} onClose={onClose} />
}

function initialOf(heartbeat: Heartbeat | undefined) {
  if (!heartbeat) return { grace: '0s', severity: 'HIGH' }
  return {
    every: periodText(heartbeat.every_seconds),
    grace: periodText(heartbeat.grace_seconds),
    severity: heartbeat.severity,
    source: heartbeat.source,
  }
}

// docs/specification.md, Heartbeats
const NAME = /^[A-Za-z0-9._-]{1,64}$/
// The most that the API answers at once.
const MOST = 1_000

/** The name is a part of the address, and an existing heartbeat would be replaced: it is checked before. */
async function putNew(body: object): Promise<ApiResult<Heartbeat>> {
  const { name = '' } = body as Entered
  const { badName, takenName } = heartbeatWords()
  if (!NAME.test(name)) return put(name, body, [{ path: 'name', message: badName }])
  const known = await call('listHeartbeats', { query: { limit: MOST } })
  if (!known.ok) return known
  const isTaken = known.value.items.some((each) => each.name === name)
  return put(name, body, isTaken ? [{ path: 'name', message: takenName }] : [])
}

/** A fault of the name is shown together with those of the periods, so that one attempt shows all of them. */
async function put(
  name: string,
  body: object,
  nameFaults: readonly OwnFault[] = [],
): Promise<ApiResult<Heartbeat>> {
  const { every = '', grace = '0s', severity, source } = body as Entered
  const [everySeconds, graceSeconds] = [secondsOf(every), secondsOf(grace)]
  const faults = [
    ...nameFaults,
    ...periodFaults('every', everySeconds),
    ...periodFaults('grace', graceSeconds),
  ]
  if (faults.length > 0 || everySeconds === undefined || graceSeconds === undefined)
    return { ok: false, failure: invalidFields(faults) }
  const settings: BodyOf<'putHeartbeat'> = {
    every_seconds: everySeconds,
    grace_seconds: graceSeconds,
    ...(severity !== undefined && { severity }),
    ...(source !== undefined && { source }),
  }
  return call('putHeartbeat', { path: { name }, body: settings })
}

const { every_seconds: EVERY, grace_seconds: GRACE } = BODIES.putHeartbeat.properties
const LIMITS = { every: EVERY, grace: GRACE }

/** What is wrong with a period. The API would name seconds, and fields that the form does not have. */
function periodFaults(path: 'every' | 'grace', seconds: number | undefined): readonly OwnFault[] {
  const { badPeriod, periodLimits } = heartbeatWords()
  const { minimum, maximum } = LIMITS[path]
  if (seconds === undefined) return [{ path, message: badPeriod }]
  return seconds < minimum || seconds > maximum ? [{ path, message: periodLimits[path] }] : []
}
