import { Type, type Static } from 'typebox'
import { Fields } from '../../wire/schemas.ts'

export const LoginQuery = Fields({
  return_to: Type.Optional(
    Type.String({
      maxLength: 1_024,
      description:
        'Where the browser comes back to: a path on this host, with or without a query. Default: `/`.',
      examples: ['/console/orders?status=pending'],
    }),
  ),
})

// Also when it is repeated: what the provider sends is judged by the page, not refused with JSON.
const Parameter = Type.Optional(
  Type.Unsafe<string | string[]>({ type: ['string', 'array'], items: { type: 'string' } }),
)

/** The answer of the provider (RFC 6749, section 4.1.2; RFC 9207). It may have more parameters. */
export const CallbackQuery = Type.Object({
  code: Parameter,
  state: Parameter,
  error: Parameter,
  error_description: Parameter,
  iss: Parameter,
})

export const RedeemBody = Fields({
  ticket: Type.String({ minLength: 1, maxLength: 256, description: 'From `#signed-in=…` of the address.' }),
})

/** The parameters as the provider has sent them; a repeated one stays repeated. */
export function parametersOf(query: Static<typeof CallbackQuery>): URLSearchParams {
  const pairs = Object.entries(query).flatMap(([name, values]) =>
    [values].flat().map((value): [string, string] => [name, String(value)]),
  )
  return new URLSearchParams(pairs)
}
