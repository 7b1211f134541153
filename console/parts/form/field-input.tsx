import { partWords } from '../part-words.ts'
import type { FormField } from './form-fields.ts'
import { toLocalInput } from './local-time.ts'

export interface FieldInputProps {
  readonly id: string
  readonly field: FormField
  readonly label: string
  readonly hint?: string | undefined
  /** What the API says is wrong with the value. */
  readonly fault?: string | undefined
  readonly value: string
  /** The ends of the names of files that the value may be read from: `.pem,.crt`. */
  readonly files?: string | undefined
  readonly labelOf?: ((path: string, value: string) => string) | undefined
  readonly onInput: (value: string) => void
}

/** One field of a form with its label, hint and fault. */
export function FieldInput(props: FieldInputProps) {
  const { id, field, label, hint, fault, files, onInput } = props
  return (
    <div class="form-field">
      <label for={id} class="form-label">
        {label}
        {field.isRequired && <span class="muted"> {partWords().required}</span>}
      </label>
      <Control {...props} />
      {files && <FileInput label={label} accept={files} onRead={onInput} />}
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
    </div>
  )
}

function Control({ id, field, hint, fault, value, labelOf, onInput }: FieldInputProps) {
  const described = [hint && `${id}-hint`, fault !== undefined && `${id}-fault`].filter(Boolean).join(' ')
  const common = {
    id,
    class: 'input',
    value,
    'aria-invalid': fault !== undefined,
    'aria-required': field.isRequired,
    ...(described && { 'aria-describedby': described }),
    onInput: ({ currentTarget }: { currentTarget: { value: string } }) => onInput(currentTarget.value),
  }
  const { path, kind, schema } = field
  switch (kind) {
    case 'choice':
    case 'flag':
      return (
        <select {...common}>
          <option value="">{partWords().any}</option>
          {choicesOf(field).map((each) => (
            <option key={each} value={each}>
              {labelOf?.(path, each) ?? each}
            </option>
          ))}
        </select>
      )
    case 'long_text':
      return <textarea {...common} rows={4} />
    case 'number':
      return <input {...common} type="number" min={schema.minimum} max={schema.maximum} />
    case 'time':
      return <input {...common} type="datetime-local" value={toLocalInput(value)} />
    case 'secret':
      return <input {...common} type="password" autocomplete="new-password" />
    case 'text':
      return <input {...common} type="text" spellcheck={false} autocomplete="off" />
  }
}

interface FileInputProps {
  readonly label: string
  readonly accept: string
  readonly onRead: (text: string) => void
}

/** Reads the value of a field from a file. */
function FileInput({ label, accept, onRead }: FileInputProps) {
  const { fromFile } = partWords()
  return (
    <label class="file-input">
      <span>{fromFile}</span>
      <input
        type="file"
        accept={accept}
        aria-label={`${label}: ${fromFile}`}
        onChange={({ currentTarget: { files } }) => {
          const [file] = files ?? []
          void file?.text().then(onRead)
        }}
      />
    </label>
  )
}

function choicesOf({ kind, schema }: FormField): readonly string[] {
  return kind === 'flag' ? ['true', 'false'] : (schema.enum ?? []).map(String)
}
