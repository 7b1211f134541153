import { ChannelError, type ChannelSettings } from '../../../ports/payments.ts'
import { codeOf, listOf, objectMembers, parseMembers, textOf, type Members } from '../json.ts'
import { isUnclear, ProviderConnection, unusableAnswer, type ProviderAnswer } from '../provider-connection.ts'
import { secretOf, type ChannelDeps } from '../settings.ts'

/** The code of an error that Stripe repeats for its idempotency key: it is the outcome, and stays so. */
export const REPLAYED = 'replayed'

/** Another call with the same idempotency key runs at the moment. https://docs.stripe.com/api/idempotent_requests */
const CONFLICT = 409

/** Calls of the HTTP API of Stripe: forms in, JSON out. */
export class StripeApi {
  readonly name: string
  readonly #apiUrl: string
  readonly #authorization: string
  readonly #connection: ProviderConnection

  constructor(settings: ChannelSettings, deps: ChannelDeps) {
    this.name = settings.name
    this.#apiUrl = settings.apiUrl
    this.#authorization = `Bearer ${secretOf(settings, 'STRIPE_SECRET_KEY')}`
    this.#connection = new ProviderConnection(settings, deps)
  }

  /** @throws ChannelError */
  async post(path: string, form: string, idempotencyKey?: string): Promise<Members> {
    const answer = await this.#connection.send({
      method: 'POST',
      url: `${this.#apiUrl}${path}`,
      headers: {
        authorization: this.#authorization,
        'content-type': 'application/x-www-form-urlencoded',
        ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
      },
      body: form,
    })
    return this.#objectOf(answer)
  }

  /** The object; undefined where there is none. @throws ChannelError */
  async find(path: string): Promise<Members | undefined> {
    const answer = await this.#get(path)
    return answer.status === 404 ? undefined : this.#objectOf(answer)
  }

  /** The objects of a list, page by page, newest first. @throws ChannelError */
  async *list(path: string): AsyncGenerator<Members> {
    for (let after = ''; ;) {
      const page = this.#objectOf(await this.#get(`${path}&limit=100${after}`))
      const items = listOf(page['data']).map(objectMembers)
      yield* items
      const last = textOf(items.at(-1)?.['id'])
      if (page['has_more'] !== true) return
      if (last === undefined) throw unusableAnswer(this.name, 'a page with items')
      after = `&starting_after=${encodeURIComponent(last)}`
    }
  }

  end(): Promise<void> {
    return this.#connection.end()
  }

  #get(path: string): Promise<ProviderAnswer> {
    const url = `${this.#apiUrl}${path}`
    return this.#connection.send({ method: 'GET', url, headers: { authorization: this.#authorization } })
  }

  #objectOf({ status, headers, body }: ProviderAnswer): Members {
    const members = parseMembers(body.toString('utf8'))
    if (status === 200) {
      if (textOf(members['object']) === undefined) throw unusableAnswer(this.name, 'an object')
      return members
    }
    const error = objectMembers(members['error'])
    const own = codeOf(error['code']) ?? codeOf(error['type']) ?? String(status)
    const isReplayed = headers['idempotent-replayed'] === 'true' && status >= 500
    throw new ChannelError(
      `${this.name}: Stripe answered ${status} (${own})`,
      isUnclear(status) || status === CONFLICT ? 'unclear' : 'refused',
      { code: isReplayed ? REPLAYED : own },
    )
  }
}
