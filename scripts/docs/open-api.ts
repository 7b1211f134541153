/** A JSON Schema, as far as the API uses it. */
export interface Schema {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly enum?: readonly unknown[]
  readonly items?: Schema
  readonly properties?: Readonly<Record<string, Schema>>
  readonly patternProperties?: Readonly<Record<string, Schema>>
  readonly additionalProperties?: boolean | Schema
  readonly required?: readonly string[]
}

export interface Parameter {
  readonly name: string
  readonly in: string
  readonly required: boolean
  readonly schema: Schema
  /** False: the values of a list are in one text, with commas between them. */
  readonly explode?: boolean
}

type Content = Readonly<Record<string, { readonly schema: Schema }>>

export interface Operation {
  readonly operationId: string
  readonly tags: readonly string[]
  readonly summary: string
  readonly 'x-roles': 'public' | 'authenticated' | readonly string[]
  readonly parameters?: readonly Parameter[]
  /** False where a request that is sent twice changes something twice, although its method is idempotent. */
  readonly 'x-repeatable'?: boolean
  readonly requestBody?: { readonly required?: boolean; readonly content: Content }
  readonly responses: Readonly<Record<string, { readonly description: string; readonly content?: Content }>>
}

/** The parts of the OpenAPI document that the reference, the client and the console are made from. */
export interface OpenApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly webhooks?: Readonly<Record<string, { readonly post: Pick<Operation, 'requestBody'> }>>
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> }
}

export interface PlacedOperation extends Operation {
  /** `GET` */
  readonly method: string
  /** `/orders/{order_id}` */
  readonly path: string
}

/** All operations in the order of the document. */
export function operationsOf({ paths }: OpenApiDocument): PlacedOperation[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, each]) => ({ ...each, path, method: method.toUpperCase() })),
  )
}
