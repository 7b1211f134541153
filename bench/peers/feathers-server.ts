// The peer: Feathers 5 on Koa with knex and SQLite, as its generator lays an application out, from the directory that
// it was installed in. It checks the body against a schema, and commits each order to disk.
import { createRequire } from 'node:module'
import { DatabaseSync, type SQLInputValue } from 'node:sqlite'

interface App {
  use(path: string, service: unknown): App
  use(middleware: unknown): App
  configure(setup: unknown): App
  service(path: string): { hooks(hooks: unknown): void }
  listen(port: number, host: string): Promise<unknown>
}

type Constructor<T> = new (...args: never[]) => T
type Hook = unknown

interface Packages {
  readonly feathers: { feathers(): unknown }
  readonly koa: Record<'rest' | 'bodyParser' | 'errorHandler', () => unknown> & { koa(app: unknown): App }
  readonly knexAdapter: { KnexService: new (options: object) => object }
  readonly schema: { hooks: { validateData(validator: unknown): Hook }; Ajv: new () => unknown }
  readonly typebox: {
    getValidator(schema: unknown, ajv: unknown): unknown
    Type: Record<'Object' | 'String' | 'Integer', (...options: object[]) => object>
  }
  readonly knex: (options: object) => unknown
  readonly SqliteClient: Constructor<object>
}

const [, , port, directory = '.', file = ''] = process.argv
// Not by the name `require`: these are no dependencies of the project.
const load = createRequire(`${directory}/`)
const { feathers, koa, knexAdapter, schema, typebox, knex, SqliteClient }: Packages = {
  feathers: load('@feathersjs/feathers'),
  koa: load('@feathersjs/koa'),
  knexAdapter: load('@feathersjs/knex'),
  schema: load('@feathersjs/schema'),
  typebox: load('@feathersjs/typebox'),
  knex: load('knex'),
  SqliteClient: load('knex/lib/dialects/better-sqlite3'),
}

/** What knex uses of better-sqlite3, whose native part need not be built so. */
class Connection {
  readonly #database: DatabaseSync

  constructor(path: string) {
    this.#database = new DatabaseSync(path)
    this.#database.exec('pragma journal_mode = wal; pragma synchronous = full')
    this.#database.exec(
      'create table if not exists orders (order_id text primary key, platform text, amount_cents integer)',
    )
  }

  prepare(text: string) {
    const statement = this.#database.prepare(text)
    return {
      reader: statement.columns().length > 0,
      all: (values: SQLInputValue[]) => statement.all(...values),
      run: (values: SQLInputValue[]) => statement.run(...values),
    }
  }

  close(): void {
    this.#database.close()
  }
}

class Client extends SqliteClient {
  _driver() {
    return Connection
  }
}

const { Type } = typebox
const Order = Type.Object(
  {
    order_id: Type.String({ pattern: '^[A-Za-z0-9._:-]{1,64}$' }),
    platform: Type.String({ minLength: 1, maxLength: 64 }),
    amount_cents: Type.Integer({ minimum: 0 }),
  },
  { additionalProperties: false },
)
const database = knex({ client: Client, connection: { filename: file }, useNullAsDefault: true })
const app = koa.koa(feathers.feathers())
app.use(koa.errorHandler())
app.use(koa.bodyParser())
app.configure(koa.rest())
app.use('orders', new knexAdapter.KnexService({ id: 'order_id', Model: database, name: 'orders' }))
const validate = schema.hooks.validateData(typebox.getValidator(Order, new schema.Ajv()))
app.service('orders').hooks({ before: { create: [validate] } })
await app.listen(Number(port), '127.0.0.1')
