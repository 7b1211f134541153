import { useSignal, type Signal } from '@preact/signals'
import { fieldsOf, jsonSchema, typeOf, type Field, type OpenApiDocument, type Operation } from './document.ts'
import { Prose } from './prose.tsx'
import { TryIt } from './try-it.tsx'

interface OperationProps {
  readonly api: OpenApiDocument
  readonly operation: Operation
  readonly token: Signal<string>
}

export function OperationCard({ api, operation, token }: OperationProps) {
  const { operationId, method, path, summary } = operation
  // The content is created when the card is opened: a page with all forms is slow on a phone.
  const isOpen = useSignal(location.hash === `#${operationId}`)
  return (
    <details
      class="card operation"
      id={operationId}
      open={isOpen.value}
      onToggle={({ currentTarget }) => (isOpen.value = currentTarget.open)}
    >
      <summary>
        <span class={`method method-${method.toLowerCase()}`}>{method}</span>
        <code class="operation-path">{path}</code>
        <span class="muted">{summary}</span>
      </summary>
      {isOpen.value && <OperationBody api={api} operation={operation} token={token} />}
    </details>
  )
}

function OperationBody({ api, operation, token }: OperationProps) {
  const body = operation.requestBody && jsonSchema(operation.requestBody)
  return (
    <div class="operation-body">
      <Prose text={operation.description ?? ''} />
      <FieldTable title="Parameters" fields={parameterFields(operation)} />
      {body && <FieldTable title="Body" fields={fieldsOf(api, body)} />}
      <TryIt api={api} operation={operation} token={token} />
      <h3>Responses</h3>
      {Object.entries(operation.responses).map(([status, response]) => {
        const schema = jsonSchema(response)
        const isFailure = Number(status) >= 400
        return (
          <section key={status} class="response">
            <span class="response-status">{status}</span>
            <div>
              <Prose text={response.description} />
              {schema && !isFailure && <FieldTable title="Body" fields={fieldsOf(api, schema)} />}
            </div>
          </section>
        )
      })}
    </div>
  )
}

function parameterFields({ parameters = [] }: Operation): Field[] {
  return parameters.map(({ name, required, description, schema, in: place }) => ({
    path: name,
    required,
    schema: { ...schema, description: [`In the ${place}.`, description].filter(Boolean).join(' ') },
  }))
}

function FieldTable({ title, fields }: { readonly title: string; readonly fields: readonly Field[] }) {
  if (fields.length === 0) return null
  return (
    <>
      <h3>{title}</h3>
      <div class="fields">
        <table>
          <tbody>
            {fields.map(({ path, required, schema }) => (
              <tr key={path}>
                <th scope="row">
                  <code>{path}</code>
                  {required && <span class="muted"> required</span>}
                </th>
                <td>
                  <span class="muted">{typeOf(schema)}</span>
                  {schema.description && <Prose text={schema.description} />}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  )
}
