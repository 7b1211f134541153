import { useSignal } from '@preact/signals'
import { BODIES } from '../../../api/generated.ts'
import type { AnswerOf, ApiResult, BodyOf } from '../../../api/operations.ts'
import { CreateDialog } from '../../../parts/form/create-dialog.tsx'
import type { FormSchema } from '../../../parts/form/form-fields.ts'
import { invalidFields, type OwnFault } from '../../../parts/form/invalid-fields.ts'
import type { NewItemDialog } from '../../../parts/list/new-item.tsx'
import { alertWords } from '../alerts/words.ts'
import { call } from '../platform.ts'
import { FIRING_SEVERITIES } from '../alerts/severities.ts'
import type { Heartbeat } from './model.ts'
import { expectation } from './expectation.ts'
import { PingAddress } from './ping-address.tsx'
import { periodText, secondsOf } from './period.ts'
import { heartbeatWords } from './words.ts'

// People write `1d`; the API takes seconds.
const SCHEMA: FormSchema = {
  required: ['name'],
  properties: {
    name: { type: 'string' },
    every: { type: 'string' },
    schedule: { type: 'string' },
    time_zone: { type: 'string' },
    grace: { type: 'string' },
    longest: { type: 'string' },
    severity: { type: 'string', enum: FIRING_SEVERITIES },
    source: { type: 'string' },
  },
}

interface EnteredHeartbeat {
  readonly name?: string
  readonly every?: string
  readonly schedule?: string
  readonly time_zone?: string
  readonly grace?: string
  readonly longest?: string
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

/** The heartbeat after the change; a new one has the address for its pings. */
type SavedHeartbeat = AnswerOf<'putHeartbeat'>

interface HeartbeatFormProps {
  /** The heartbeat that is edited; without one the form creates another. */
  readonly heartbeat?: Heartbeat
  readonly onDone: (heartbeat: SavedHeartbeat) => void
  readonly onClose: () => void
}

function HeartbeatForm({ heartbeat, onDone, onClose }: HeartbeatFormProps) {
  const words = heartbeatWords()
  const { severities } = alertWords()
  const { name, ...others } = words.formFields
  return (
    <CreateDialog
      title={heartbeat ? words.editTitle(heartbeat.name) : words.newItem}
      schema={SCHEMA}
      labels={heartbeat ? others : { name, ...others }}
      hints={words.hints}
      labelOf={(_, value) => severities[value as Heartbeat['severity']]}
      quickValues={quickValues}
      initial={initialOf(heartbeat)}
      action={heartbeat ? words.save : words.create}
      create={(body) => (heartbeat ? put(heartbeat.name, body) : putNew(body))}
      doneOf={(saved) => words.saved(saved.name, expectation(saved))}
      onCreated={onDone}
      onClose={onClose}
    />
  )
}

/** Asks for the name and the times of a heartbeat, then shows its address, which nobody can read again. */
export function NewHeartbeat({ onClose, onCreated }: NewItemDialog) {
  const created = useSignal<SavedHeartbeat | null>(null)
  if (!created.value)
    return <HeartbeatForm onDone={(heartbeat) => (created.value = heartbeat)} onClose={onClose} />
  const { name, schedule } = created.value
  const pingUrl = 'ping_url' in created.value ? created.value.ping_url : null
  return <PingAddress schedule={schedule} pingUrl={pingUrl ?? ''} onClose={() => onCreated(name)} />
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
  if (!heartbeat) return { time_zone: systemTimeZone(), grace: '0s', severity: 'HIGH' }
  return {
    ...(heartbeat.every_seconds !== null && { every: periodText(heartbeat.every_seconds) }),
    ...(heartbeat.schedule !== null && { schedule: heartbeat.schedule }),
    ...(heartbeat.time_zone !== null && { time_zone: heartbeat.time_zone }),
    ...(heartbeat.max_run_seconds !== null && { longest: periodText(heartbeat.max_run_seconds) }),
    grace: periodText(heartbeat.grace_seconds),
    severity: heartbeat.severity,
    source: heartbeat.source,
  }
}

function systemTimeZone(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone
}

// docs/specification.md, Heartbeats
const NAME = /^[A-Za-z0-9._-]{1,64}$/
// The most that the API answers at once.
const MOST_HEARTBEATS = 1_000

/** The name is a part of the address, and an existing heartbeat would be replaced: it is checked before. */
async function putNew(body: object): Promise<ApiResult<SavedHeartbeat>> {
  const { name = '' } = body as EnteredHeartbeat
  const { badName, takenName } = heartbeatWords()
  if (!NAME.test(name)) return put(name, body, [{ path: 'name', message: badName }])
  const known = await call('listHeartbeats', { query: { limit: MOST_HEARTBEATS } })
  if (!known.ok) return known
  const isTaken = known.value.items.some((heartbeat) => heartbeat.name === name)
  return put(name, body, isTaken ? [{ path: 'name', message: takenName }] : [])
}

/** A fault of the name is shown together with those of the periods, so that one attempt shows all of them. */
async function put(
  name: string,
  body: object,
  nameFaults: readonly OwnFault[] = [],
): Promise<ApiResult<SavedHeartbeat>> {
  const { every, schedule, time_zone, grace = '0s', longest, severity, source } = body as EnteredHeartbeat
  const { needsTime } = heartbeatWords()
  const faults = [
    ...nameFaults,
    ...((every === undefined) === (schedule === undefined) ? [{ path: 'every', message: needsTime }] : []),
    ...Object.entries({ every, grace, longest }).flatMap(([path, text]) =>
      text === undefined ? [] : periodFaults(path as Period, secondsOf(text)),
    ),
  ]
  if (faults.length > 0) return { ok: false, failure: invalidFields(faults) }
  const settings: BodyOf<'putHeartbeat'> = {
    ...(every !== undefined && { every_seconds: secondsOf(every) ?? 0 }),
    ...(schedule !== undefined && { schedule, ...(time_zone !== undefined && { time_zone }) }),
    grace_seconds: secondsOf(grace) ?? 0,
    ...(longest !== undefined && { max_run_seconds: secondsOf(longest) ?? 0 }),
    ...(severity !== undefined && { severity }),
    ...(source !== undefined && { source }),
  }
  return call('putHeartbeat', { path: { name }, body: settings })
}

const {
  every_seconds: EVERY,
  grace_seconds: GRACE,
  max_run_seconds: LONGEST,
} = BODIES.putHeartbeat.properties
const LIMITS = { every: EVERY, grace: GRACE, longest: LONGEST }
type Period = keyof typeof LIMITS

/** What is wrong with a period. The API would name seconds, and fields that the form does not have. */
function periodFaults(path: Period, seconds: number | undefined): readonly OwnFault[] {
  const { badPeriod, periodLimits } = heartbeatWords()
  const { minimum, maximum } = LIMITS[path]
  if (seconds === undefined) return [{ path, message: badPeriod }]
  return seconds < minimum || seconds > maximum ? [{ path, message: periodLimits[path] }] : []
}
