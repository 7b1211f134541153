import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { checkLayers } from './check-layers.ts'

type Files = Readonly<Record<string, string>>

// A small repository without a violation; each case adds its own files.
const VALID: Files = {
  'node_modules/pg/package.json': '{ "name": "pg", "type": "module", "exports": "./index.js" }',
  'node_modules/pg/index.js': 'export const Client = 1',
  'src/kernel/clock.ts': 'export const clock = 1\nexport interface Clock {}',
  'src/domains/orders/tables.ts': 'export interface OrderRow {}',
  'src/domains/orders/model.ts': "import { clock } from '../../kernel/clock.ts'\nexport const orders = clock",
  'src/domains/orders/index.ts': "export { orders } from './model.ts'\nexport interface Orders {}",
  'src/store/store.ts': 'export interface Tx {}\nexport const open = 1',
  'src/ports/events.ts': "import type { Tx } from '../store/store.ts'\nexport type Append = (tx: Tx) => void",
  'src/app/platform.ts':
    "import { orders } from '../domains/orders/index.ts'\nexport const platform = orders",
}

const FORBIDDEN: readonly { readonly what: string; readonly files: Files; readonly rule: string }[] = [
  {
    what: 'the kernel importing a domain',
    files: { 'src/kernel/a.ts': "import '../domains/orders/index.ts'" },
    rule: 'folder-kernel',
  },
  {
    what: 'the kernel doing I/O',
    files: { 'src/kernel/a.ts': "import 'node:fs'" },
    rule: 'folder-kernel',
  },
  {
    what: 'a port importing the domain that implements it',
    files: { 'src/ports/a.ts': "import type { Orders } from '../domains/orders/index.ts'" },
    rule: 'folder-ports',
  },
  {
    what: 'a port doing I/O',
    files: { 'src/ports/a.ts': "import 'node:fs'" },
    rule: 'folder-ports',
  },
  {
    what: 'the reference client of the VPN importing the gateway',
    files: { 'programs/vpn-client/a.ts': "import '../../src/infra/ws/a.ts'", 'src/infra/ws/a.ts': '' },
    rule: 'vpn-client',
  },
  {
    what: 'the platform importing an inner module of a separate program',
    files: {
      'src/app/a.ts': "import '../../programs/vpn-client/a.ts'",
      'programs/vpn-client/a.ts': '',
    },
    rule: 'program-index-only',
  },
  {
    what: 'a separate program importing another one',
    files: {
      'programs/vpn-client/a.ts': "import '../mock-oidc/index.ts'",
      'programs/mock-oidc/index.ts': '',
    },
    rule: 'programs-separate',
  },
  {
    what: 'another program importing the WebSocket library',
    files: {
      'programs/mock-oidc/a.ts': "import 'ws'",
      'node_modules/ws/package.json': '{ "name": "ws", "type": "module", "exports": "./index.js" }',
      'node_modules/ws/index.js': '',
    },
    rule: 'package-ws',
  },
  {
    what: 'the configuration importing the store',
    files: { 'src/config/a.ts': "import '../store/store.ts'" },
    rule: 'folder-config',
  },
  {
    what: 'wire importing an npm package other than the schema library',
    files: { 'src/wire/a.ts': "import 'pg'" },
    rule: 'folder-wire',
  },
  {
    what: 'the store importing an adapter',
    files: { 'src/store/a.ts': "import '../infra/a.ts'", 'src/infra/a.ts': '' },
    rule: 'folder-store',
  },
  {
    what: 'the store importing the tables of a domain',
    files: { 'src/store/a.ts': "import type { OrderRow } from '../domains/orders/tables.ts'" },
    rule: 'folder-store',
  },
  {
    what: 'an adapter using the store',
    files: { 'src/infra/a.ts': "import { open } from '../store/store.ts'\nexport { open }" },
    rule: 'transaction-type',
  },
  {
    what: 'a domain importing an adapter',
    files: { 'src/domains/orders/a.ts': "import '../../infra/a.ts'", 'src/infra/a.ts': '' },
    rule: 'folder-domains',
  },
  {
    what: 'a domain importing code of another domain',
    files: { 'src/domains/alerts/a.ts': "import { orders } from '../orders/index.ts'" },
    rule: 'other-domain-types-only',
  },
  {
    what: 'a domain importing a type of another domain from a file other than index.ts',
    files: { 'src/domains/alerts/a.ts': "import type { OrderRow } from '../orders/tables.ts'" },
    rule: 'other-domain-index-only',
  },
  {
    what: "a domain's model importing its store",
    files: { 'src/domains/alerts/model.ts': "import './store.ts'", 'src/domains/alerts/store.ts': '' },
    rule: 'domain-model',
  },
  {
    what: 'an adapter importing a domain',
    files: { 'src/infra/http/a.ts': "import type { Orders } from '../../domains/orders/index.ts'" },
    rule: 'folder-infra',
  },
  {
    what: 'app importing a file of a domain other than index.ts',
    files: { 'src/app/a.ts': "import '../domains/orders/model.ts'" },
    rule: 'domain-index-only',
  },
  {
    what: 'the executable importing the store',
    files: { 'bin/a.ts': "import '../src/store/store.ts'" },
    rule: 'folder-bin',
  },
  {
    what: 'a program importing a domain',
    files: { 'programs/backup/a.ts': "import '../../src/domains/orders/index.ts'" },
    rule: 'folder-programs',
  },
  {
    what: 'the ticket notifier importing an npm package',
    files: { 'programs/ticket-notify/a.ts': "import 'pg'" },
    rule: 'ticket-notifier',
  },
  {
    what: 'the ticket notifier importing the kernel, which it is installed without',
    files: { 'programs/ticket-notify/a.ts': "import '../../src/kernel/clock.ts'" },
    rule: 'ticket-notifier',
  },
  {
    what: 'the files of several programs importing the kernel, without which the notifier is installed',
    files: { 'programs/files/a.ts': "import '../../src/kernel/clock.ts'" },
    rule: 'shared-files',
  },
  {
    what: 'the ticket notifier importing the notification module statically',
    files: {
      'programs/ticket-notify/a.ts': "import './notify.ts'",
      'programs/ticket-notify/notify.ts': '',
    },
    rule: 'ticket-notifier-second-file',
  },
  {
    what: 'the ticket notifier importing a part of the notification module',
    files: {
      'programs/ticket-notify/a.ts': "import './notification/channels.ts'",
      'programs/ticket-notify/notification/channels.ts': '',
    },
    rule: 'ticket-notifier-second-file',
  },
  {
    what: 'a page for the browser importing the platform',
    files: { 'console/pages/a.tsx': "import '../../src/kernel/a.ts'", 'src/kernel/a.ts': '' },
    rule: 'folder-console',
  },
  {
    what: "a page for the browser importing one of Node's own modules",
    files: { 'console/pages/a.ts': "import 'node:fs'" },
    rule: 'folder-console',
  },
  {
    what: 'the PostgreSQL driver outside store/dialects',
    files: { 'src/store/a.ts': "import { Client } from 'pg'" },
    rule: 'package-pg',
  },
  {
    what: 'the SQLite driver outside store/dialects',
    files: { 'src/app/a.ts': "import { DatabaseSync } from 'node:sqlite'" },
    rule: 'package-sqlite',
  },
  {
    what: 'a cycle of type imports',
    files: {
      'src/app/a.ts': "import type { B } from './b.ts'\nexport type A = B",
      'src/app/b.ts': "import type { A } from './a.ts'\nexport type B = A",
    },
    rule: 'no-cycle',
  },
  {
    what: 'an import inside an await using declaration',
    files: { 'src/app/a.ts': "async function a() { await using b = await import('pg') }" },
    rule: 'package-pg',
  },
  {
    what: 'production code importing a development dependency',
    files: {
      'package.json': '{ "devDependencies": { "pg": "1.0.0" } }',
      'src/store/dialects/a.ts': "import 'pg'",
    },
    rule: 'no-development-package',
  },
  {
    what: 'an import that cannot be resolved',
    files: { 'src/app/a.ts': "import './absent.ts'" },
    rule: 'resolvable',
  },
  {
    what: 'production code importing test support',
    files: { 'src/app/a.ts': "import '../../test/support/a.ts'", 'test/support/a.ts': '' },
    rule: 'no-test-in-product',
  },
]

const ALLOWED: readonly { readonly what: string; readonly files: Files }[] = [
  { what: 'a repository without a violation', files: {} },
  {
    what: 'a domain importing a type of another domain from its index.ts',
    files: { 'src/domains/alerts/a.ts': "import type { Orders } from '../orders/index.ts'" },
  },
  {
    what: 'a database driver in store/dialects',
    files: { 'src/store/dialects/a.ts': "import 'pg'\nimport 'node:sqlite'" },
  },
  {
    what: 'the notification module importing an adapter',
    files: {
      'programs/ticket-notify/notify.ts': "import '../../src/infra/mail/a.ts'",
      'src/infra/mail/a.ts': '',
    },
  },
  {
    what: 'the ticket notifier importing the files of several programs',
    files: {
      'programs/ticket-notify/a.ts': "import '../files/a.ts'",
      'programs/files/a.ts': "import 'node:fs'",
    },
  },
  {
    what: 'a test importing any file',
    files: { 'src/kernel/a.test.ts': "import '../domains/orders/model.ts'\nimport 'node:fs'" },
  },
]

function build(t: TestContext, files: Files): string {
  const root = mkdtempSync(join(tmpdir(), 'layers-'))
  t.after(() => rmSync(root, { recursive: true }))
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  return root
}

for (const { what, files, rule } of FORBIDDEN) {
  test(`${what} is reported`, async (t) => {
    const { problems } = await checkLayers(build(t, { ...VALID, ...files }), 1)
    assert.ok(
      problems.some((problem) => problem.includes(`: ${rule}. `)),
      `expected ${rule} among: ${problems.join('\n')}`,
    )
  })
}

for (const { what, files } of ALLOWED) {
  test(`${what} is allowed`, async (t) => {
    const report = await checkLayers(build(t, { ...VALID, ...files }), 1)
    assert.deepEqual(report.problems, [])
    assert.ok(report.modules >= 6)
  })
}

test('a check that reads no modules fails', async (t) => {
  const report = await checkLayers(build(t, {}))
  assert.deepEqual(report, { modules: 0, problems: ['read 0 modules, expected at least 10'] })
})

test('a check that reads too few modules fails', async (t) => {
  const { problems } = await checkLayers(build(t, VALID))
  assert.match(problems.join(), /read \d modules, expected at least 10/)
})
