/** A JSON Schema, as far as the page shows it. */
export interface Schema {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly description?: string
  readonly enum?: readonly unknown[]
  readonly format?: string
  readonly pattern?: string
  readonly minimum?: number
  readonly maximum?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly default?: unknown
  readonly examples?: readonly unknown[]
  readonly items?: Schema
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
}

export interface Parameter {
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  readonly required: boolean
  readonly description?: string
  readonly schema: Schema
}

type Content = Readonly<Record<string, { readonly schema: Schema }>>

interface DescribedOperation {
  readonly operationId: string
  readonly summary: string
  readonly description?: string
  readonly tags: readonly string[]
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: { readonly content: Content }
  readonly responses: Readonly<Record<string, { readonly description: string; readonly content?: Content }>>
}

/** The parts of the OpenAPI document that the page shows. */
export interface OpenApiDocument {
  readonly info: { readonly title: string; readonly version: string; readonly description: string }
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> }
  readonly paths: Readonly<Record<string, Readonly<Record<string, DescribedOperation>>>>
}

export interface Operation extends DescribedOperation {
  readonly method: string
  /** With parameters as `/orders/{order_id}`. */
  readonly path: string
}

/** The operations in the order of the document. */
export function operationsOf({ paths }: OpenApiDocument): Operation[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      ...operation,
      method: method.toUpperCase(),
      path,
    })),
  )
}

/** The schema of the JSON body of a request or a response. */
export function jsonSchema({ content }: { readonly content?: Content }): Schema | undefined {
  return content?.['application/json']?.schema
}

/** Follows a reference of the form `#/components/schemas/Name`. */
export function resolve({ components }: OpenApiDocument, schema: Schema): Schema {
  const name = schema.$ref?.split('/').at(-1)
  return (name && components.schemas[name]) || schema
}

export interface Field {
  /** Dotted: `items[].order_id`. */
  readonly path: string
  readonly required: boolean
  readonly schema: Schema
}

/** The fields of an object and of the objects in it, each parent before its members. */
export function fieldsOf(api: OpenApiDocument, schema: Schema, prefix = ''): Field[] {
  const { properties = {}, required = [] } = resolve(api, schema)
  return Object.entries(properties).flatMap(([name, member]) => {
    const path = `${prefix}${name}`
    const inner = resolve(api, member)
    return [
      { path, required: required.includes(name), schema: inner },
      ...fieldsOf(api, inner, `${path}.`),
      ...(inner.items ? fieldsOf(api, inner.items, `${path}[].`) : []),
    ]
  })
}

const LIMITS = [
  ['minimum', 'at least'],
  ['maximum', 'at most'],
  ['minLength', 'length at least'],
  ['maxLength', 'length at most'],
  ['default', 'default'],
] as const

/** The type of a value in words: `integer, at least 0`. */
export function typeOf(schema: Schema): string {
  const { type = 'any', format, enum: values, items } = schema
  const name = values ? values.join(' | ') : [type].flat().join(' or ')
  const element = items?.type ? ` of ${[items.type].flat().join(' or ')}` : ''
  const limits = LIMITS.filter(([key]) => schema[key] !== undefined).map(
    ([key, words]) => `${words} ${String(schema[key])}`,
  )
  return [name + element, ...(format ? [format] : []), ...limits].join(', ')
}
