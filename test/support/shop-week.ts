import assert from 'node:assert/strict'
import { DAY, HOUR, MINUTE } from '../../src/kernel/time.ts'
import { freshCertificate } from './certificate-sample.ts'
import type { createJumpingClock } from './jumping-clock.ts'
import type { CallOptions, ServedPlatform } from './platform.ts'

type Clock = ReturnType<typeof createJumpingClock>

/** A configuration with receivers, routes and commands, for {@link liveWeek}. */
export const SHOP_TOML = `
[receivers.on-call]
kind = "generic"
url = "http://127.0.0.1:65530/chat"
[receivers.warehouse-team]
kind = "generic"
url = "http://127.0.0.1:65530/warehouse"
[[alerts.routes]]
match = { source = "shop.*" }
receivers = ["on-call"]
escalate = [{ after = "15m", receivers = ["warehouse-team"] }]

[commands.restart-shop]
title = "Restart the shop"
description = "Ends the processes of the shop one by one, and starts them again."
run = ["echo", "restarted", "{unit}"]
approval = "two_person"
params.unit = { type = "string", default = "checkout", description = "Which part of the shop" }

[commands.clear-cache]
title = "Clear the cache of the catalogue"
run = ["sh", "-c", "for page in 1 2 3 4 5; do echo page $page of the catalogue: cleared; done"]
`

const HOSTILE_TITLE =
  '<script>alert(1)</script> \u202Egpj.exe 🛒 Auslastungsüberwachungsdienst 数据库磁盘空间不足'

const PLATFORMS = ['live', 'wechat-mini', 'amazon-de', 'marketplace-of-a-partner-with-a-long-name']
const HOURS = [1, 5, 8, 10, 12, 14, 17, 20]
const PEOPLE = [
  ['ada', ['admin']],
  ['boris', ['devops']],
  ['li.na', ['devops', 'auditor']],
  ['warehouse-scanner-of-the-northern-branch', ['service']],
] as const
const PASSWORD = 'a heavy brass telescope'

interface Created {
  readonly id: string
}

/** Lives through a week of a shop, hour by hour of the platform's clock, until now. */
export async function liveWeek(platform: ServedPlatform, clock: Clock): Promise<void> {
  await new ShopWeek(platform, clock).live()
}

class ShopWeek {
  readonly #platform: ServedPlatform
  readonly #clock: Clock
  readonly #now = Date.now()
  readonly #people = new Map<string, string>()
  #order = 1_000

  constructor(platform: ServedPlatform, clock: Clock) {
    this.#platform = platform
    this.#clock = clock
  }

  async live(): Promise<void> {
    this.#clock.set(this.#now - 7 * DAY)
    await this.#begin()
    for (let day = 7; day > 0; day--) await this.#liveDay(this.#now - day * DAY)
    this.#clock.set(this.#now)
    await this.#liveNow()
  }

  async #begin(): Promise<void> {
    for (const [name, roles] of PEOPLE) {
      const { id } = await this.#send<Created>('POST', '/users', { name, roles, password: PASSWORD })
      this.#people.set(name, id)
    }
    await this.#send('PUT', '/commands/policy', {
      rules: {
        'restart-shop': { roles: ['admin', 'devops'] },
        'clear-cache': { roles: ['admin', 'devops'] },
      },
    })
    await this.#send('PUT', '/menus', { items: MENUS })
    for (const [name, end] of CERTIFICATES)
      await this.#send('POST', '/certificates', { name, pem: freshCertificate(end) })
    const beat = { every_seconds: 86_400, grace_seconds: 3_600, severity: 'HIGH', source: 'shop.reports' }
    await this.#send('PUT', '/alerts/heartbeats/daily-report', beat)
    await this.#send('PUT', '/alerts/heartbeats/nightly-import-of-the-catalogue', beat)
    await this.#send('POST', '/webhooks', {
      url: 'https://warehouse.example.com/hooks/orders',
      subjects: ['order.*'],
      description: 'The warehouse',
    })
  }

  async #liveDay(start: number): Promise<void> {
    for (const hour of HOURS) {
      this.#clock.set(start + hour * HOUR)
      await this.#takeOrders()
    }
    await this.#raiseAndRecover()
    await this.#workOnTicket(start)
    await this.#send('POST', '/alerts/heartbeats/daily-report/beat')
    await this.#send('POST', '/api/v1/telemetry', {
      agent_id: 'web-1',
      data: { 'disk.free_bytes': 81_000_000_000 - (start % 997) * 1_000_000, load: 0.42, version: '4.2.1' },
    })
  }

  /** Five orders: two are completed, one is shipped, one is paid, one expires. */
  async #takeOrders(): Promise<void> {
    for (const moves of [
      ['paid', 'shipped', 'completed'],
      ['paid', 'completed'],
      ['paid', 'shipped'],
      ['paid'],
      [],
    ]) {
      const id = `2026-${this.#order++}`
      await this.#send('POST', '/orders', {
        order_id: id,
        platform: PLATFORMS[this.#order % PLATFORMS.length],
        amount_cents: 990 + ((this.#order * 7_919) % 90_000),
      })
      for (const status of moves) await this.#send('PUT', `/orders/${id}`, { status })
    }
  }

  async #raiseAndRecover(): Promise<void> {
    const { id } = await this.#report('shop.web', 'The shop is slow', 'HIGH')
    await this.#send('POST', `/alerts/${id}/acknowledge`, { comment: 'Looking at it.' }, 'boris')
    this.#clock.set(this.#clock.now() + 20 * MINUTE)
    await this.#send('POST', `/alerts/${id}/recover`, undefined, 'boris')
  }

  async #workOnTicket(start: number): Promise<void> {
    const [title = '', level = ''] = TICKETS[Math.round((this.#now - start) / DAY) % TICKETS.length] ?? []
    const { id } = await this.#send<Created>('POST', '/tickets', {
      title,
      level,
      source: 'shop.support',
      description: 'A customer has called: see https://support.example.com/cases/4711',
    })
    await this.#edit(id, { assignee: this.#people.get('boris'), comment: 'I look at it. @li.na knows more.' })
    if (level !== 'low') await this.#edit(id, { status: 'in_progress' }, 'boris')
    if (level === 'high') await this.#edit(id, { status: 'resolved', comment: 'Done.' }, 'boris')
  }

  async #liveNow(): Promise<void> {
    await this.#takeOrders()
    await this.#report('platform.nightly', 'The nightly backup has failed', 'CRITICAL')
    await this.#report('shop.payments', 'Payments of WeChat are slow', 'HIGH')
    for (let shelf = 1; shelf <= 9; shelf++)
      await this.#report('warehouse.scanner', `Scanner ${shelf} is offline`, 'WARNING')
    await this.#report('db.primary', HOSTILE_TITLE, 'ERROR')
    await this.#report('shop.catalogue', 'The catalogue was imported', 'INFO')
    const { id } = await this.#report('shop.search', 'The search answers slowly', 'WARNING')
    await this.#send('POST', `/alerts/${id}/acknowledge`, { comment: 'Known since noon.' }, 'boris')
    await this.#send('POST', '/alerts/silences', {
      matchers: { source: 'shop.payments' },
      reason: 'WeChat works on it until the evening',
      ends_at: new Date(this.#now + 6 * HOUR).toISOString(),
    })
    await this.#send('POST', '/tickets', {
      title: HOSTILE_TITLE,
      level: 'critical',
      description: HOSTILE_TITLE,
    })
    await this.#send('POST', '/data/backups', { note: 'Before the sale' })
    await this.#send('POST', '/messages/publish', {
      subject: 'shop.opened',
      payload: { shop: 7, title: HOSTILE_TITLE },
    })
    await this.#send('POST', '/commands/clear-cache/execute', {})
    await this.#send('POST', '/commands/restart-shop/execute', { reason: 'The checkout hangs.' }, 'boris')
  }

  #report(source: string, title: string, level: string): Promise<Created> {
    const body = 'Seen by the monitoring of the shop. The runbook is at https://wiki.example.com/runbooks.'
    return this.#send('POST', '/alerts/report', { source, title, level, body, server_addr: '192.0.2.10' })
  }

  async #edit(id: string, body: object, user?: string): Promise<void> {
    await this.#send('PUT', `/tickets/${id}`, body, user)
  }

  /** As a local tool, in the name of a user. */
  async #send<T>(method: string, path: string, body?: object, user = 'ada'): Promise<T> {
    const options: CallOptions = {
      user: this.#people.get(user) ?? user,
      headers: { 'x-user-name': user },
      ...(body && { body }),
    }
    const answer = await this.#platform.call(method, path, options)
    const text = await answer.text()
    assert.ok(answer.ok, `${method} ${path}: ${answer.status} ${text}`)
    return (text === '' ? undefined : JSON.parse(text)) as T
  }
}

const MENUS = [
  { id: 'home', title: 'Home', path: '/home', position: 0, enabled: true },
  {
    id: 'products',
    title: 'Products',
    path: '/products',
    position: 1,
    enabled: true,
    children: [
      { id: 'shoes', title: 'Shoes', path: '/products/shoes', position: 0, enabled: true },
      { id: 'sale', title: HOSTILE_TITLE, path: '/products/sale', position: 1, enabled: false },
    ],
  },
]

const CERTIFICATES = [
  ['shop.example.com', 2126],
  ['www.example.com', 2027],
  ['intranet-of-the-northern-branch.warehouse.example.com', 2126],
] as const

const TICKETS = [
  ['The printer of the warehouse prints no labels', 'high'],
  ['Refund order 2026-1010', 'medium'],
  ['发票抬头有误，客户要求重新开具', 'low'],
  ['The shop does not answer from Austria', 'critical'],
  ['A customer cannot change the address of an order that was paid already', 'medium'],
  ['Prices of the catalogue are a day old', 'low'],
  ['Add the new colleague to the rota', 'low'],
]
