import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import { consoleWorld, PASSWORD } from './console-world.ts'

const world = consoleWorld(
  {},
  {
    toml: `[commands.greet]
title = "Greet somebody"
run = ["echo", "hello", "{name}"]
params.name = { type = "string", default = "you" }
`,
  },
)

/** What a user does, counted: each click, and each key but those of a text. */
class CountedUser {
  readonly page: Page
  readonly isNarrow: boolean
  clicks = 0
  keys = 0

  constructor(page: Page, isNarrow: boolean) {
    this.page = page
    this.isNarrow = isNarrow
  }

  async click(target: Locator): Promise<void> {
    this.clicks += 1
    await target.click()
  }

  async press(...keys: readonly string[]): Promise<void> {
    for (const key of keys) {
      this.keys += 1
      await this.page.keyboard.press(key)
    }
  }

  async type(text: string): Promise<void> {
    await this.page.keyboard.type(text)
  }

  async fill(field: Locator, text: string): Promise<void> {
    await this.click(field)
    await this.type(text)
  }

  /** The field that has the focus already. */
  async fillFocused(field: Locator, text: string): Promise<void> {
    await field.and(this.page.locator(':focus')).waitFor()
    await this.type(text)
  }

  /** By the tab key alone, from where the focus is. */
  async tabTo(target: Locator): Promise<void> {
    await target.waitFor()
    for (let count = 0; count < MOST_TABS; count++) {
      if (await target.evaluate((element) => element === document.activeElement)) return
      await this.press('Tab')
    }
    throw new Error(`${String(target)} is not reached by ${MOST_TABS} times Tab.`)
  }

  /** Opens the form of something new by the navigation. */
  async openNew(name: string): Promise<void> {
    if (this.isNarrow) await this.click(this.button('Menu'))
    await this.click(this.page.getByRole('navigation').getByRole('link', { name, exact: true }).last())
  }

  /** Opens a page by its keys. */
  async goByKeys(key: string, name: string): Promise<void> {
    await this.press('g', key)
    await this.heading(name)
  }

  async heading(name: string): Promise<void> {
    await this.page.getByRole('heading', { level: 1, name }).waitFor()
  }

  button(name: string | RegExp): Locator {
    return this.page.getByRole('button', { name, exact: true })
  }

  dialogButton(name: string): Locator {
    return this.page.getByRole('dialog').getByRole('button', { name, exact: true })
  }

  row(name: string): Locator {
    return this.page.getByRole('link', { name, exact: true })
  }

  /** What the overview names first. */
  firstAlert(name: string): Locator {
    return this.page.getByRole('link', { name: new RegExp(`^See to the alert .*${name}\\b`) })
  }

  field(name: string): Locator {
    return this.page.getByRole('dialog').getByLabel(name)
  }
}

const MOST_TABS = 40

interface Task {
  readonly name: string
  /** Clicks and keys in each of {@link WAYS}, as docs/guide/console.md has them. */
  readonly steps: readonly [pointer: number, keys: number, phone: number]
  readonly prepare?: (name: string) => Promise<unknown>
  /** `name` is new in each run. */
  readonly byPointer: (user: CountedUser, name: string) => Promise<void>
  readonly byKeys: (user: CountedUser, name: string) => Promise<void>
  /** What is on screen when it is done. */
  readonly done: (page: Page, name: string) => Locator
}

const post = (path: string, body: object) => world.platform.call('POST', path, { body })
/** The only one, so that the overview names it first. */
async function reportAlert(title: string): Promise<void> {
  const firing = await world.platform.call('GET', '/alerts?status=firing')
  const { items } = (await firing.json()) as { items: { id: string }[] }
  for (const { id } of items) await post(`/alerts/${id}/recover`, {})
  await post('/alerts/report', { source: title, title, level: 'CRITICAL', alarm_id: title })
}
const createTicket = (title: string) => post('/tickets', { title, level: 'critical' })
const createOrder = (order_id: string) =>
  post('/orders', { order_id, platform: order_id, amount_cents: 4_990 })
const toast = (page: Page, text: string | RegExp) => page.getByRole('status').filter({ hasText: text })

const TASKS: readonly Task[] = [
  {
    name: 'see what needs a person first',
    steps: [1, 2, 1],
    prepare: reportAlert,
    byPointer: (user) => user.click(user.page.getByRole('link', { name: /^See to the alert/ })),
    async byKeys(user) {
      await user.page.getByRole('link', { name: /^See to the alert/ }).waitFor()
      await user.press('1', 'Enter')
    },
    done: (page) => page.getByRole('button', { name: 'Acknowledge' }),
  },
  {
    name: 'mark an order as paid',
    steps: [3, 4, 3],
    prepare: createOrder,
    async byPointer(user, name) {
      await user.click(user.page.locator('.course-table').getByRole('link', { name: 'Pending' }))
      await user.click(user.row(name))
      await user.click(user.button('Mark as paid'))
    },
    async byKeys(user, name) {
      await user.press('Control+k')
      await user.page.getByRole('dialog').getByRole('combobox').waitFor()
      await user.type(name)
      await user.page.getByRole('option', { name: `Open the order ${name}` }).waitFor()
      await user.press('Enter')
      await user.button('Mark as paid').waitFor()
      await user.press('1', 'Enter')
    },
    done: (page, name) => toast(page, new RegExp(`${name}: Paid|Mark as paid: 1 done`)),
  },
  {
    name: 'create an order',
    steps: [4, 5, 5],
    async byPointer(user, name) {
      await user.openNew('New order')
      await user.fillFocused(user.field('Order'), name)
      await user.fill(user.field('Platform'), 'shop')
      await user.fill(user.field('Amount'), '49.90')
      await user.click(user.dialogButton('Create the order'))
    },
    async byKeys(user, name) {
      await user.press('n', 'o')
      await user.field('Order').and(user.page.locator(':focus')).waitFor()
      await user.type(name)
      await user.press('Tab')
      await user.type('shop')
      await user.press('Tab')
      await user.type('49.90')
      await user.press('Control+Enter')
    },
    done: (page, name) => toast(page, `Order ${name} was created.`),
  },
  {
    name: 'list the unpaid orders of a platform',
    steps: [4, 6, 4],
    prepare: createOrder,
    async byPointer(user, name) {
      await user.click(user.page.locator('.course-table').getByRole('link', { name: 'Pending' }))
      await user.heading('Orders')
      await user.click(user.button('Add filter'))
      await user.click(user.page.getByRole('menuitem', { name: 'Platform' }))
      await user.type(name)
      await user.press('Enter')
    },
    async byKeys(user, name) {
      await user.press('Control+k')
      await user.page.getByRole('dialog').getByRole('combobox').waitFor()
      await user.type('unpaid')
      await user.press('Enter')
      await user.heading('Orders')
      await user.press('f', 'p', 'Enter')
      await user.type(name)
      await user.press('Enter')
    },
    done: (page, name) =>
      page.getByRole('button', { name: new RegExp(`Platform: ${name}`) }).and(page.locator(':focus')),
  },
  {
    name: 'acknowledge an alert',
    steps: [3, 5, 3],
    prepare: reportAlert,
    async byPointer(user, name) {
      await user.click(user.firstAlert(name))
      await user.click(user.button('Acknowledge'))
      await user.click(user.dialogButton('Acknowledge'))
    },
    async byKeys(user, name) {
      await user.firstAlert(name).waitFor()
      await user.press('1', 'Enter')
      await user.button('Acknowledge').waitFor()
      await user.press('1', 'Enter')
      await user.dialogButton('Acknowledge').waitFor()
      await user.press('Control+Enter')
    },
    done: (page) => toast(page, 'The alert is acknowledged.'),
  },
  {
    name: 'silence an alert for two hours',
    steps: [3, 5, 3],
    prepare: reportAlert,
    async byPointer(user, name) {
      await user.click(user.firstAlert(name))
      await user.click(user.button('Silence'))
      await user.click(user.dialogButton('Silence'))
    },
    async byKeys(user, name) {
      await user.firstAlert(name).waitFor()
      await user.press('1', 'Enter')
      await user.button('Silence').waitFor()
      await user.press('2', 'Enter')
      await user.dialogButton('Silence').waitFor()
      await user.press('Control+Enter')
    },
    done: (page) => toast(page, 'The silence is created.'),
  },
  {
    name: 'create a ticket and take it',
    steps: [3, 8, 4],
    async byPointer(user, name) {
      await user.openNew('New ticket')
      await user.fillFocused(user.field('Title'), name)
      await user.click(user.dialogButton('Me'))
      await user.click(user.dialogButton('Create the ticket'))
    },
    async byKeys(user, name) {
      await user.press('n', 't')
      await user.field('Title').and(user.page.locator(':focus')).waitFor()
      await user.type(name)
      await user.tabTo(user.page.getByRole('combobox', { name: 'Assignee' }))
      await user.press('m', 'Control+Enter')
    },
    done: (page) => page.getByRole('button', { name: 'Unassign' }),
  },
  {
    name: 'resolve a ticket on the board',
    steps: [3, 5, 3],
    prepare: createTicket,
    async byPointer(user, name) {
      await user.click(user.page.getByRole('link', { name: 'Unclosed tickets' }))
      await user.click(user.row(name))
      await user.click(user.button('Resolve'))
    },
    async byKeys(user, name) {
      await user.press('Control+k')
      await user.page.getByRole('dialog').getByRole('combobox').waitFor()
      await user.type('board')
      await user.press('Enter')
      await user.row(name).waitFor()
      await user.press('j', 'Alt+ArrowRight')
      await user.page
        .getByRole('region', { name: 'In progress' })
        .getByRole('link', { name })
        .and(user.page.locator(':focus'))
        .waitFor()
      await user.press('Alt+ArrowRight')
    },
    done: (page, name) => toast(page, `\u2068${name}\u2069: Resolved`),
  },
  {
    name: 'ask a colleague in a comment',
    steps: [4, 7, 4],
    prepare: createTicket,
    async byPointer(user, name) {
      await user.click(user.page.getByRole('link', { name: 'Unclosed tickets' }))
      await user.click(user.row(name))
      await user.fill(user.page.getByRole('textbox', { name: 'Comment' }), 'Your turn, @wanda')
      await user.click(user.button('Comment'))
    },
    async byKeys(user, name) {
      await user.goByKeys('t', 'Tickets')
      await user.row(name).waitFor()
      await user.press('j', 'Enter')
      await user.page.getByRole('textbox', { name: 'Comment' }).waitFor()
      await user.press('c')
      await user.type('Your turn, @wan')
      await user.page.getByRole('option', { name: 'wanda' }).waitFor()
      await user.press('Enter', 'Control+Enter')
    },
    done: (page) => page.getByRole('list', { name: 'Comments' }).getByText('Your turn, @wanda'),
  },
  {
    name: 'run a command and read its output',
    steps: [5, 5, 5],
    async byPointer(user, name) {
      await user.click(user.button(/^Search/))
      await user.page.getByRole('dialog').getByRole('combobox').waitFor()
      await user.type('greet')
      await user.click(user.page.getByRole('option', { name: 'Run the command' }))
      const field = user.page.getByLabel('name', { exact: true })
      await user.click(field)
      await user.press('Control+a')
      await user.type(name)
      await user.click(user.button('Run'))
    },
    async byKeys(user, name) {
      await user.press('Control+k')
      await user.page.getByRole('dialog').getByRole('combobox').waitFor()
      await user.type('greet')
      await user.page.getByRole('option', { name: 'Run the command' }).waitFor()
      await user.press('Enter')
      await user.tabTo(user.page.getByLabel('name', { exact: true }))
      await user.type(name)
      await user.press('Control+Enter')
    },
    done: (page, name) => page.getByText(`hello ${name}`),
  },
  {
    name: 'create a user',
    steps: [4, 7, 5],
    async byPointer(user, name) {
      await user.openNew('New user')
      await user.fillFocused(user.field('Name'), name)
      await user.fill(user.field('Password'), PASSWORD)
      await user.click(user.field('Operations'))
      await user.click(user.dialogButton('Create the user'))
    },
    async byKeys(user, name) {
      await user.press('n', 'u')
      await user.field('Name').and(user.page.locator(':focus')).waitFor()
      await user.type(name)
      await user.press('Tab')
      await user.type(PASSWORD)
      await user.tabTo(user.field('Operations'))
      await user.press(' ', 'Control+Enter')
    },
    done: (page, name) => page.getByRole('region', { name }),
  },
  {
    name: 'back up the data',
    steps: [2, 3, 3],
    async byPointer(user) {
      await user.openNew('New backup')
      await user.click(user.dialogButton('Start the backup'))
    },
    async byKeys(user) {
      await user.press('n', 'b')
      await user.dialogButton('Start the backup').waitFor()
      await user.press('Control+Enter')
    },
    done: (page) => page.getByRole('button', { name: 'Download' }),
  },
]

const WAYS = ['pointer', 'keys', 'phone'] as const
const PHONE = { width: 390, height: 844 }
let runs = 0

for (const way of WAYS) {
  for (const { name, steps, prepare, byPointer, byKeys, done } of TASKS) {
    test(`${way}: ${name}`, async (t) => {
      if (runs === 0) await post('/users', { name: 'wanda', password: PASSWORD, roles: ['devops'] })
      const thing = `task${++runs}`
      await prepare?.(thing)
      const isPhone = way === 'phone'
      const page = await world.open(t, 'overview', isPhone ? { viewport: PHONE } : {})
      await page.locator('.course-table').waitFor()
      const user = new CountedUser(page, isPhone)
      await (way === 'keys' ? byKeys : byPointer)(user, thing)
      await done(page, thing).first().waitFor()
      if (way === 'keys') assert.equal(user.clicks, 0)
      assert.equal(user.clicks + user.keys, steps[WAYS.indexOf(way)])
    })
  }
}
