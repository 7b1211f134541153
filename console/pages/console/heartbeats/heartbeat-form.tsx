import type { ApiFailure, ApiResult, BodyOf } from '../../../api/operations.ts'
import { localSeconds } from '../../../i18n/local.ts'
import { CreateDialog } from '../../../parts/form/create-dialog.tsx'
import type { FormSchema } from '../../../parts/form/form-fields.ts'
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

/** The name is a part of the address, and an existing heartbeat would be replaced: both are checked before. */
async function putNew(body: object): Promise<ApiResult<Heartbeat>> {
  const { name = '' } = body as Entered
  const { badName, takenName } = heartbeatWords()
  if (!NAME.test(name)) return refused('name', badName)
  const known = await call('listHeartbeats', { query: { limit: MOST } })
  if (!known.ok) return known
  return known.value.items.some((each) => each.name === name) ? refused('name', takenName) : put(name, body)
}

async function put(name: string, body: object): Promise<ApiResult<Heartbeat>> {
  const { every = '', grace, severity, source } = body as Entered
  const everySeconds = secondsOf(every)
  const graceSeconds = grace === undefined ? 0 : secondsOf(grace)
  const { badPeriod } = heartbeatWords()
  if (everySeconds === undefined) return refused('every', badPeriod)
  if (graceSeconds === undefined) return refused('grace', badPeriod)
  const settings: BodyOf<'putHeartbeat'> = {
    every_seconds: everySeconds,
    grace_seconds: graceSeconds,
    ...(severity !== undefined && { severity }),
    ...(source !== undefined && { source }),
  }
  const result = await call('putHeartbeat', { path: { name }, body: settings })
  return result.ok ? result : { ok: false, failure: atPeriods(result.failure) }
}

function refused(path: string, message: string): ApiResult<never> {
  const details = [{ path, message }]
  return {
    ok: false,
    failure: { status: 400, code: 'validation_failed', message, details, retryAfterSeconds: null },
  }
}

const PERIOD_FIELDS: Readonly<Record<string, 'every' | 'grace'>> = {
  every_seconds: 'every',
  grace_seconds: 'grace',
}

/** Puts what is wrong with the seconds to the fields of the periods, without naming seconds. */
function atPeriods(failure: ApiFailure): ApiFailure {
  const { periodLimits } = heartbeatWords()
  const details = failure.details.map((fault) => {
    const field = PERIOD_FIELDS[fault.path]
    return field === undefined ? fault : { path: field, message: periodLimits[field] }
  })
  return { ...failure, details }
}
