import { useSignal } from '@preact/signals'
import type { ComponentChildren, RefObject } from 'preact'
import { useId, useLayoutEffect, useMemo, useRef } from 'preact/hooks'
import type { ApiFailure, FieldFault } from '../../api/operations.ts'
import { Button } from '../button.tsx'
import { describeFailure, describeFault } from '../failure-words.ts'
import { partWords } from '../part-words.ts'
import { isSessionEnd } from '../report-failure.ts'
import { FieldInput, type FileSource, type QuickValue } from './field-input.tsx'
import {
  bodyOf,
  defaultsOf,
  formFields,
  longestField,
  partsOf,
  placeFaults,
  type FormField,
  type FormSchema,
  type FormValues,
} from './form-fields.ts'
import { keepValues, keptValues } from './kept-values.ts'

export interface SchemaFormProps {
  /** Schema of the body, from the document of the API. */
  readonly schema: FormSchema
  /** By the paths of the fields; a field without a label is not shown. */
  readonly labels: Readonly<Record<string, string>>
  readonly hints?: Readonly<Record<string, string>>
  readonly labelOf?: (path: string, value: string) => string
  /** The words for no value, by the paths of the choices. */
  readonly unsetLabels?: Readonly<Record<string, string>>
  /** What reads a file into a field, by the paths of the fields. */
  readonly files?: Readonly<Record<string, FileSource>>
  /** By the paths of the fields: values to choose with one click. */
  readonly quickValues?: Readonly<Record<string, readonly QuickValue[]>>
  /** What the browser offers while a text is typed, by the paths of the texts. */
  readonly suggestions?: Readonly<Record<string, readonly string[]>>
  /** By the names of objects in the body: the title below which their fields are folded while none has a value. */
  readonly folds?: Readonly<Record<string, string>>
  readonly initial?: FormValues
  /** Called with the body at each change of a field. */
  readonly onChange?: (body: object) => void
  readonly action: string
  /** Sends the body; returns why it was refused, or null. */
  readonly send: (body: object) => Promise<ApiFailure | null>
  /** Another thing to do with the body, such as a check of it. */
  readonly other?: Pick<SchemaFormProps, 'action' | 'send'>
  readonly onCancel?: () => void
  /** A name under which the form keeps what was typed until it is sent, also while it is not shown. */
  readonly keepAs?: string
  /** Whether the form is empty again after its body is sent, for another one. */
  readonly isRepeated?: boolean
}

/** A form with the fields of a request body. The API checks the values, and its answer stands at the fields. */
export function SchemaForm(props: SchemaFormProps) {
  const { schema, labels } = props
  const id = useId()
  const form = useRef<HTMLFormElement>(null)
  const failure = useSignal<ApiFailure | null>(null)
  const isSending = useSignal(false)
  const focusFault = useFaultFocus(form)
  const fields = useMemo(() => formFields(schema).filter(({ path }) => path in labels), [schema])
  const { values, enter, forget, reset } = useValues(fields, props, (path) => {
    failure.value = withoutFault(failure.peek(), path)
  })
  const { byPath, others } = placeFaults(fields, failure.value?.details ?? [])
  const sendBody = async (send: SchemaFormProps['send']) => {
    isSending.value = true
    const refusal = await send(bodyOf(fields, values.value))
    isSending.value = false
    if (!refusal && send === props.send) {
      forget()
      if (props.isRepeated) reset()
    }
    return refusal?.code === 'payload_too_large' ? atLongestField(refusal, fields, values.value) : refusal
  }
  const submit = async (send: SchemaFormProps['send']) => {
    if (isSending.value) return
    const refusal = incompleteFields(form.current, id) ?? (await sendBody(send))
    failure.value = refusal && !isSessionEnd(refusal) ? refusal : null
    if (failure.value) focusFault()
  }
  return (
    <form
      class="form"
      ref={form}
      noValidate
      // Enter alone begins a new line in a long text.
      onKeyDown={(event) => {
        if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) event.currentTarget.requestSubmit()
      }}
      onSubmit={(event) => {
        event.preventDefault()
        void submit(props.send)
      }}
    >
      {failure.value && (byPath.size === 0 || others.length > 0) && (
        <FormFailure failure={failure.value} others={others} />
      )}
      <FormParts form={props} id={id} fields={fields} values={values.value} faults={byPath} enter={enter} />
      <FormActions {...props} isSending={isSending.value} submit={submit} />
    </form>
  )
}

interface FormPartsProps {
  readonly form: SchemaFormProps
  readonly id: string
  readonly fields: readonly FormField[]
  readonly values: FormValues
  readonly faults: ReadonlyMap<string, FieldFault>
  readonly enter: (path: string, value: string) => void
}

function FormParts({ form, id, fields, values, faults, enter }: FormPartsProps) {
  const isUsed = ({ path }: FormField) => (values[path] ?? '') !== ''
  return partsOf(fields, form.folds).map(({ title, fields: part }) => (
    <FormPart key={part[0]?.path} title={title} isUsed={part.some(isUsed)}>
      {part.map((field) => (
        <FieldInput
          key={field.path}
          {...fieldProps(field, form)}
          id={`${id}-${field.path}`}
          fault={faultText(field, faults.get(field.path))}
          value={values[field.path] ?? ''}
          onInput={(value) => enter(field.path, value)}
        />
      ))}
    </FormPart>
  ))
}

interface FormPartProps {
  /** Left out: the fields are always in sight. */
  readonly title: string | undefined
  /** Once a field has a value all stay in sight, until the user folds them. */
  readonly isUsed: boolean
  readonly children: ComponentChildren
}

function FormPart({ title, isUsed, children }: FormPartProps) {
  const isOpened = useRef(isUsed)
  isOpened.current ||= isUsed
  if (title === undefined) return <>{children}</>
  return (
    <details class="form-fold" open={isOpened.current}>
      <summary>{title}</summary>
      {children}
    </details>
  )
}

/** What the form says of a field. */
function fieldProps(field: FormField, props: SchemaFormProps) {
  const {
    labels,
    hints = {},
    files = {},
    quickValues = {},
    suggestions = {},
    unsetLabels = {},
    initial,
    labelOf,
  } = props
  const { path } = field
  return {
    field,
    label: labels[path] ?? path,
    hint: hints[path],
    files: files[path],
    quickValues: quickValues[path],
    suggestions: suggestions[path],
    unsetLabel: unsetLabels[path],
    isAlwaysSet: isAlwaysSet(field, initial),
    labelOf,
  }
}

/** Whether a field keeps having a value: an edited object always has its flags and its required fields. */
function isAlwaysSet({ kind, path, isRequired }: FormField, initial: FormValues = {}): boolean {
  return (kind === 'flag' || isRequired) && (initial[path] ?? '') !== ''
}

/** The fields in which a part of the value is missing, such as the time of a day: the browser gives no value for these. */
function incompleteFields(form: HTMLFormElement | null, id: string): ApiFailure | null {
  const inputs = [...(form?.querySelectorAll('input') ?? [])].filter(({ validity }) => validity.badInput)
  if (inputs.length === 0) return null
  const message = partWords().incomplete
  const details = inputs.map((input) => ({ path: input.id.slice(id.length + 1), code: 'console', message }))
  return { status: 0, code: 'incomplete', message, details, retryAfterSeconds: null }
}

/** Puts the refusal of a body that is too large at its longest field: the platform names none. */
function atLongestField(failure: ApiFailure, fields: readonly FormField[], values: FormValues): ApiFailure {
  const field = longestField(fields, values)
  const fault = { code: 'console', message: describeFailure(failure) }
  return field ? { ...failure, details: [{ ...fault, path: field.path }] } : failure
}

/** What the user has entered; under the name `keepAs` also after the form was closed. */
function useValues(fields: readonly FormField[], props: SchemaFormProps, onEntered: (path: string) => void) {
  const { keepAs = '', onChange } = props
  const initial = () => props.initial ?? defaultsOf(fields)
  const values = useSignal<FormValues>(keptValues(keepAs) ?? initial())
  return {
    values,
    enter(path: string, value: string) {
      values.value = { ...values.value, [path]: value }
      if (keepAs !== '')
        keepValues(keepAs, isAsBefore(values.value, initial()) ? null : withoutSecrets(fields, values.value))
      onEntered(path)
      onChange?.(bodyOf(fields, values.value))
    },
    forget: () => keepValues(keepAs, null),
    reset: () => (values.value = initial()),
  }
}

/** Whether nothing differs from what the form began with. */
function isAsBefore(values: FormValues, initial: FormValues): boolean {
  return Object.entries(values).every(([path, value]) => value === (initial[path] ?? ''))
}

/** Removes the fault of a field whose value was changed. */
function withoutFault(failure: ApiFailure | null, path: string): ApiFailure | null {
  if (!failure || failure.details.length === 0) return failure
  const details = failure.details.filter((fault) => fault.path !== path && !fault.path.startsWith(`${path}.`))
  return details.length > 0 ? { ...failure, details } : null
}

function withoutSecrets(fields: readonly FormField[], values: FormValues): FormValues {
  const secrets = new Set(fields.filter(({ kind }) => kind === 'secret').map(({ path }) => path))
  return Object.fromEntries(Object.entries(values).filter(([path]) => !secrets.has(path)))
}

/** The words for a fault. An amount is entered in other units than the API's cents, so that the faults of its number have words of their own. */
function faultText({ kind }: FormField, fault: FieldFault | undefined): string | undefined {
  if (!fault) return undefined
  return kind === 'amount' && NUMBER_FAULTS.includes(fault.code)
    ? partWords().notAnAmount
    : describeFault(fault)
}

const NUMBER_FAULTS = ['wrong_type', 'not_exact', 'too_small', 'too_large']

interface FormActionsProps extends Pick<SchemaFormProps, 'action' | 'other' | 'onCancel'> {
  readonly isSending: boolean
  readonly submit: (send: SchemaFormProps['send']) => Promise<void>
}

function FormActions({ action, other, onCancel, isSending, submit }: FormActionsProps) {
  const { cancel, saving } = partWords()
  return (
    <div class="actions actions-end">
      {onCancel && (
        <Button aria-disabled={isSending} onClick={() => isSending || onCancel()}>
          {cancel}
        </Button>
      )}
      {other && (
        <Button aria-disabled={isSending} onClick={() => void submit(other.send)}>
          {other.action}
        </Button>
      )}
      <Button kind="main" type="submit" aria-disabled={isSending}>
        {isSending ? saving : action}
      </Button>
    </div>
  )
}

interface FormFailureProps {
  readonly failure: ApiFailure
  readonly others: readonly FieldFault[]
}

/** What is wrong with the whole form, or with fields that it does not show. */
function FormFailure({ failure, others }: FormFailureProps) {
  return (
    <div class="form-failure" role="alert" tabIndex={-1}>
      <p>{describeFailure(failure)}</p>
      {others.map((fault) => (
        <p key={fault.path}>
          {fault.path !== '' && `${fault.path}: `}
          {describeFault(fault)}
        </p>
      ))}
    </div>
  )
}

/** Returns what gives the focus to the first fault after the faults are drawn. */
function useFaultFocus(form: RefObject<HTMLFormElement | null>): () => void {
  const isWanted = useRef(false)
  useLayoutEffect(() => {
    if (!isWanted.current) return
    isWanted.current = false
    const fault = form.current?.querySelector<HTMLElement>('[aria-invalid="true"], [role="alert"]')
    const fold = fault?.closest('details')
    if (fold) fold.open = true
    fault?.focus()
  })
  return () => {
    isWanted.current = true
  }
}
