import { Type, type Static } from 'typebox'
import { invalidField } from '../../kernel/errors.ts'
import { decoderOf, encoderOf, parseTime } from '../../wire/codec.ts'
import { TimedPageQuery } from '../../wire/page.ts'
import {
  Fields,
  GivenTime,
  Id,
  Nullable,
  NullableOneOf,
  NullableTimestamp,
  OneOf,
  Text,
  Timestamp,
} from '../../wire/schemas.ts'
import {
  DELIVERY_FAULTS,
  DELIVERY_STATUSES,
  DISABLED_REASONS,
  type StoredWebhook,
  type WebhookSettings,
} from './model.ts'

const Url = Text({
  minLength: 1,
  maxLength: 2_048,
  description:
    'An `https` address without user and password; `http` only in the networks of `webhooks.allow_private`.',
  examples: ['https://shop.example.org/hooks'],
})
const Subjects = Type.Array(
  Type.String({
    pattern: '^(?:[A-Za-z0-9_.-]{1,255}|[A-Za-z0-9_.-]{0,254}\\*)$',
    patternFault: ['not_subjects'],
    maxLength: 255,
    examples: ['order.*'],
  }),
  {
    minItems: 1,
    maxItems: 50,
    description:
      'Subjects of events and of messages, each exact (`order.paid`) or a prefix that ends in `*`.',
  },
)
const Description = Text({ maxLength: 500, description: 'For people.', examples: ['the warehouse'] })
const Ordered = Type.Boolean({
  description: 'Whether the events of one thing arrive one after the other, in their order.',
})
const Enabled = Type.Boolean({
  description: 'A disabled webhook gets nothing; what happens meanwhile is sent by `recover` only.',
})

export const WebhookSchema = Fields(
  {
    id: Id,
    url: Url,
    subjects: Subjects,
    description: Description,
    ordered: Ordered,
    enabled: Enabled,
    disabled_reason: NullableOneOf(
      DISABLED_REASONS,
      '`by_hand`; `gone`: it has answered 410; `failing`: its calls failed for 5 days. Null while enabled.',
    ),
    version: Type.Integer({
      minimum: 1,
      description: 'The version of the settings and the secret; the ETag.',
    }),
    pending: Type.Integer({ minimum: 0, description: 'Events that it has not got yet.' }),
    failing_since: NullableTimestamp,
    last_success_at: NullableTimestamp,
    former_secret_until: Nullable<string>({
      ...Timestamp,
      description: 'Until when the secret before the last rotation signs beside the new one.',
    }),
    created_at: Timestamp,
    created_by: Type.String({ description: 'Id of the caller.' }),
    updated_at: Timestamp,
    updated_by: Type.String({ description: 'Id of the caller; `worker` if the platform has disabled it.' }),
  },
  { $id: 'Webhook' },
)

export const WebhookWithSecret = Fields(
  {
    ...WebhookSchema.properties,
    secret: Nullable<string>({
      type: 'string',
      description: 'Signs each call; shown this once. Null in a repetition by `Idempotency-Key`.',
      examples: ['whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD'],
    }),
  },
  { $id: 'WebhookWithSecret' },
)

export const DeliverySchema = Fields(
  {
    id: Id,
    event_id: Type.String({ description: 'The `webhook-id` of each try.' }),
    type: Type.String({ description: 'Subject of the event.', examples: ['order.paid'] }),
    status: OneOf(DELIVERY_STATUSES, '`failed`: no more tries.'),
    attempts: Type.Integer({ minimum: 0 }),
    created_at: Timestamp,
    due_at: Nullable<string>({
      ...Timestamp,
      description:
        'The next try. Null once finished, and while it waits for an earlier event of the same thing.',
    }),
    tried_at: NullableTimestamp,
    finished_at: NullableTimestamp,
    response_status: Nullable<number>({ type: 'integer', description: 'The status of the last answer.' }),
    response_headers: Nullable<string[]>({
      type: 'array',
      items: { type: 'string' },
      description: 'Their names.',
    }),
    response_body: Nullable<string>({ type: 'string', description: 'The first 1 KiB.' }),
    error: NullableOneOf(
      DELIVERY_FAULTS,
      'Why there was no answer. `event_removed`: the event is older than `messages.keep`. ' +
        '`interrupted`: it was pending in the backup that this database was restored from.',
    ),
  },
  { $id: 'WebhookDelivery' },
)

export const DeliveryQuery = Fields({
  ...TimedPageQuery,
  status: Type.Optional(OneOf(DELIVERY_STATUSES)),
})
export const DeliveryParams = Fields({ id: Id, delivery_id: Id })

export const WebhookBody = Fields({
  url: Url,
  subjects: Subjects,
  description: Type.Optional(Description),
  ordered: Type.Optional(Ordered),
  enabled: Type.Optional(Enabled),
})

export const WebhookEditBody = Type.Object(
  {
    url: Type.Optional(Url),
    subjects: Type.Optional(Subjects),
    description: Type.Optional(Description),
    ordered: Type.Optional(Ordered),
    enabled: Type.Optional(Enabled),
  },
  { additionalProperties: false, minProperties: 1 },
)

export const RecoverBody = Fields({
  since: GivenTime('Not before the log begins: `messages.keep`. RFC 3339 with any offset.'),
})

const decodeBody = decoderOf<Partial<WebhookSettings>>(WebhookBody)

/** Throws `validation_failed` for what is no address of the web. */
export function fromWebhookBody(body: Static<typeof WebhookBody>): WebhookSettings {
  return {
    description: '',
    ordered: true,
    enabled: true,
    ...decodeBody(body),
    ...checkedOf(body),
  } as WebhookSettings
}

/** Throws as {@link fromWebhookBody}. */
export function fromWebhookEditBody(body: Static<typeof WebhookEditBody>): Partial<WebhookSettings> {
  return { ...decodeBody(body), ...checkedOf(body) }
}

export function fromRecoverBody({ since }: Static<typeof RecoverBody>): number {
  return parseTime('since', since)
}

function checkedOf({ url, subjects }: { url?: string; subjects?: readonly string[] }) {
  const telemetry = subjects?.find((subject) => subject.startsWith('telemetry.'))
  // Telemetry has a log of its own, whose items are far too many for single calls.
  if (telemetry !== undefined) throw invalidField('subjects', 'unknown_event', { subject: telemetry })
  return {
    ...(url !== undefined && { url: parseUrl(url) }),
    ...(subjects && { subjects: [...new Set(subjects)] }),
  }
}

/** Writes the address in the form of the URL standard, which has one spelling for each address. */
function parseUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const isWeb = url?.protocol === 'https:' || url?.protocol === 'http:'
  if (!url || !isWeb || url.username !== '' || url.password !== '')
    throw invalidField('url', 'invalid', {
      reason: 'must be an https:// or http:// address without user and password',
    })
  url.hash = ''
  return url.href
}

export const encodeWebhook = encoderOf(WebhookSchema)

/** The endpoint with its secret, which is shown once. */
export const encodeNewWebhook = encoderOf(WebhookWithSecret, {
  secret: ({ secret }: StoredWebhook) => secret.reveal(),
})

/** The response to a repeated request. */
export const encodeKnownWebhook = encoderOf(WebhookWithSecret, { secret: () => null })

export const encodeDelivery = encoderOf(DeliverySchema)
