import { useSignal } from '@preact/signals'
import { Button } from '../button.tsx'
import { partWords } from '../part-words.ts'
import type { FormField } from './form-fields.ts'
import { LATEST_INPUT, toLocalInput } from './local-time.ts'

/** A usual value of a field, which a button enters. */
export interface QuickValue {
  readonly label: string
  readonly valueOf: () => string
}

/** Files that the value of a field may be read from. */
export interface FileSource {
  /** The extensions of their names: `.pem,.crt`. */
  readonly accept: string
  readonly read: (file: Blob) => Promise<FileContent>
}

/** The value that a file has, or why it has none. */
export type FileContent = { readonly text: string } | { readonly fault: string }

export interface FieldInputProps {
  readonly id: string
  readonly field: FormField
  readonly label: string
  readonly hint?: string | undefined
  /** What the API says is wrong with the value. */
  readonly fault?: string | undefined
  readonly value: string
  readonly files?: FileSource | undefined
  readonly labelOf?: ((path: string, value: string) => string) | undefined
  /** The words of a choice without a value. */
  readonly unsetLabel?: string | undefined
  /** Whether a choice has a value and keeps one. */
  readonly isAlwaysSet?: boolean
  readonly quickValues?: readonly QuickValue[] | undefined
  /** What the browser offers while a text is typed. */
  readonly suggestions?: readonly string[] | undefined
  readonly onInput: (value: string) => void
}

/** One field of a form with its label, hint and fault. */
export function FieldInput(props: FieldInputProps) {
  const { id, field, label, files, quickValues, onInput } = props
  if (field.kind === 'choices') {
    return (
      <fieldset class="form-field form-choices" aria-describedby={describedBy(props)}>
        <legend class="form-label">
          <FieldName {...props} />
        </legend>
        <Control {...props} />
        <FieldNotes {...props} />
      </fieldset>
    )
  }
  return (
    <div class="form-field">
      <label for={id} class="form-label">
        <FieldName {...props} />
      </label>
      <Control {...props} />
      {files && <FileInput label={label} source={files} onRead={onInput} />}
      {quickValues && <QuickValues label={label} values={quickValues} onInput={onInput} />}
      <FieldNotes {...props} />
    </div>
  )
}

function FieldName({ field, label }: FieldInputProps) {
  return (
    <>
      {label}
      {field.isRequired && <span class="muted">{partWords().required}</span>}
    </>
  )
}

function FieldNotes({ id, hint, fault }: FieldInputProps) {
  return (
    <>
      {hint && (
        <p id={`${id}-hint`} class="hint">
          {hint}
        </p>
      )}
      {fault !== undefined && (
        <p id={`${id}-fault`} class="fault">
          {fault}
        </p>
      )}
    </>
  )
}

/** The ids of the hint and the fault of a field. */
function describedBy({ id, hint, fault }: FieldInputProps): string | undefined {
  return [hint && `${id}-hint`, fault !== undefined && `${id}-fault`].filter(Boolean).join(' ') || undefined
}

function Checkboxes({ id, field, fault, value, labelOf, onInput }: FieldInputProps) {
  const chosen = new Set(value.split(',').filter(Boolean))
  const choices = (field.schema.items?.enum ?? []).map(String)
  const toggle = (choice: string) => {
    const changed = chosen.symmetricDifference(new Set([choice]))
    onInput(choices.filter((choice) => changed.has(choice)).join(','))
  }
  return (
    <>
      {choices.map((choice) => (
        <label key={choice} class="checkbox">
          <input
            id={`${id}-${choice}`}
            type="checkbox"
            checked={chosen.has(choice)}
            aria-invalid={fault !== undefined}
            onChange={() => toggle(choice)}
          />
          {labelOf?.(field.path, choice) ?? choice}
        </label>
      ))}
    </>
  )
}

function inputProps(props: FieldInputProps) {
  const { id, field, fault, value, onInput } = props
  return {
    id,
    class: 'input',
    value,
    'aria-invalid': fault !== undefined,
    'aria-required': field.isRequired,
    'aria-describedby': describedBy(props),
    onInput: ({ currentTarget }: { currentTarget: { value: string } }) => onInput(currentTarget.value),
  }
}

function Control(props: FieldInputProps) {
  const { field, value, labelOf, unsetLabel, isAlwaysSet } = props
  const common = inputProps(props)
  const { path, kind, schema } = field
  switch (kind) {
    case 'choices':
      return <Checkboxes {...props} />
    case 'choice':
    case 'flag':
      return (
        <select {...common}>
          {!isAlwaysSet && <option value="">{unsetLabel ?? partWords().any}</option>}
          {choicesOf(field).map((choice) => (
            <option key={choice} value={choice}>
              {labelOf?.(path, choice) ?? choice}
            </option>
          ))}
        </select>
      )
    case 'long_text':
      return <textarea {...common} rows={4} />
    case 'number':
      return <input {...common} type="number" min={schema.minimum} max={schema.maximum} />
    case 'amount':
      return <input {...common} type="text" inputMode="decimal" autocomplete="off" />
    case 'time':
      return <input {...common} type="datetime-local" max={LATEST_INPUT} value={toLocalInput(value)} />
    case 'secret':
      return <input {...common} type="password" autocomplete="new-password" />
    case 'text':
      return <TextInput {...props} />
  }
}

function TextInput(props: FieldInputProps) {
  const { id, suggestions = [] } = props
  const list = `${id}-suggestions`
  return (
    <>
      <input
        {...inputProps(props)}
        type="text"
        spellcheck={false}
        autocomplete="off"
        {...(suggestions.length > 0 && { list })}
      />
      {suggestions.length > 0 && (
        <datalist id={list}>
          {suggestions.map((suggestion) => (
            <option key={suggestion} value={suggestion} />
          ))}
        </datalist>
      )}
    </>
  )
}

interface QuickValuesProps {
  readonly label: string
  readonly values: readonly QuickValue[]
  readonly onInput: (value: string) => void
}

function QuickValues({ label, values, onInput }: QuickValuesProps) {
  return (
    <div class="actions" role="group" aria-label={`${label}: ${partWords().usualValues}`}>
      {values.map(({ label: title, valueOf }) => (
        <Button key={title} onClick={() => onInput(valueOf())}>
          {title}
        </Button>
      ))}
    </div>
  )
}

interface FileInputProps {
  readonly label: string
  readonly source: FileSource
  readonly onRead: (text: string) => void
}

/** Reads the value of a field from a file. */
function FileInput({ label, source, onRead }: FileInputProps) {
  const { fromFile } = partWords()
  const { accept, read } = source
  const fault = useSignal<string | null>(null)
  const take = async (file: Blob) => {
    const content = await read(file)
    fault.value = 'fault' in content ? content.fault : null
    onRead('text' in content ? content.text : '')
  }
  return (
    <label class="file-input">
      <span>{fromFile}</span>
      <input
        type="file"
        accept={accept}
        aria-label={`${label}: ${fromFile}`}
        onChange={({ currentTarget: { files } }) => {
          const [file] = files ?? []
          if (file) void take(file)
        }}
      />
      {fault.value !== null && (
        <span class="fault" role="alert">
          {fault.value}
        </span>
      )}
    </label>
  )
}

function choicesOf({ kind, schema }: FormField): readonly string[] {
  return kind === 'flag' ? ['true', 'false'] : (schema.enum ?? []).map(String)
}
