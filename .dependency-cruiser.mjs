// The rule of dependency (ARCHITECTURE.md) as data. Run by scripts/check-layers.ts.

/** @typedef {import('dependency-cruiser').IForbiddenRuleType} Rule */

const TESTS = ['[.]test[.]ts$', '^test/', '^bench/']
const KERNEL = '^src/kernel/'
const PORTS = '^src/ports/'
const WIRE = '^src/wire/'
const CONFIG = '^src/config/'
// The transaction, as a type: routes and ports name it, and know nothing else of the store.
const TRANSACTION = '^src/store/store[.]ts$'
const PROGRAM_INDEX = '^programs/[^/]+/(index|value-error)[.]ts$'
const NOTIFICATION_MODULE = '^programs/ticket-notify/(notify[.]ts$|notification/)'
const NOTIFIER_INDEX = '^programs/ticket-notify/index[.]ts$'
const VPN_CLIENT = '^programs/vpn-client/'
const DOMAIN_INDEX = '^src/domains/[^/]+/index[.]ts$'

/** @param {string[]} names */
const packages = (...names) => `^node_modules/(${names.join('|')})/`

/** What each room may import, beside Node's own modules unless it says otherwise; everything else is forbidden. */
const ROOMS = [
  {
    name: 'kernel',
    comment: 'The words that everyone shares: no I/O, no npm package, no other room.',
    path: KERNEL,
    mayImport: [KERNEL, '^(node:)?(crypto|util|perf_hooks|timers/promises)$'],
    noOtherNodeModules: true,
  },
  {
    name: 'ports',
    comment:
      'Interfaces that a domain implements and an adapter calls, or the other way round; no code that runs.',
    path: PORTS,
    mayImport: [PORTS, KERNEL, TRANSACTION],
    noOtherNodeModules: true,
  },
  {
    name: 'config',
    comment: 'The configuration is read before anything else stands.',
    path: CONFIG,
    mayImport: [CONFIG, KERNEL, packages('leven', 'smol-toml')],
  },
  {
    name: 'wire',
    comment: 'The vocabulary of the HTTP API, shared by the domains and the server; it knows neither.',
    path: WIRE,
    mayImport: [WIRE, KERNEL, TRANSACTION, packages('typebox')],
  },
  {
    name: 'store',
    comment: 'Below the domains, which declare their own tables.',
    path: '^src/store/',
    mayImport: ['^src/store/', KERNEL, PORTS, packages('kysely', 'lru-cache', 'pg', '@types/pg')],
  },
  {
    name: 'domains',
    comment: 'Rules and stories; what a domain needs from outside, app hands to it.',
    path: '^src/domains/',
    mayImport: [
      '^src/domains/',
      '^src/store/',
      KERNEL,
      PORTS,
      WIRE,
      packages('kysely', 'typebox', 'lru-cache', '@zxcvbn-ts/language-common'),
    ],
  },
  {
    name: 'infra',
    comment: 'Adapters know no domain, no database and not who wires them.',
    path: '^src/infra/',
    mayImport: ['^src/infra/', KERNEL, PORTS, CONFIG, WIRE, TRANSACTION, '^node_modules/'],
  },
  {
    name: 'bin',
    comment: 'The executable only maps arguments to commands and errors to exit codes.',
    path: '^bin/',
    mayImport: ['^bin/', '^src/app/', CONFIG, KERNEL, WIRE, DOMAIN_INDEX, PROGRAM_INDEX, '^node_modules/'],
  },
  {
    name: 'programs',
    comment: 'Separate programs that talk to the platform over HTTP, as any client would.',
    path: '^programs/',
    mayImport: ['^programs/', CONFIG, KERNEL, '^src/infra/(robots|mail)/', '^node_modules/'],
  },
  {
    name: 'console',
    comment: 'Runs in a browser, and knows the platform by its HTTP API alone.',
    path: '^console/',
    mayImport: ['^console/', packages('preact', '@preact/signals')],
    noOtherNodeModules: true,
  },
]

/** Who may open the door to something that the rest of the code must not see. */
const DOORS = [
  { to: '^(node:)?sqlite$', name: 'sqlite', only: ['^src/store/dialects/'] },
  { to: packages('pg', '@types/pg'), name: 'pg', only: ['^src/store/dialects/'] },
  { to: packages('@nats-io/[^/]+'), name: 'nats', only: ['^src/infra/bus/'] },
  { to: packages('ws', '@types/ws'), name: 'ws', only: ['^src/infra/ws/', VPN_CLIENT] },
  { to: packages('fastify', '@fastify/[^/]+'), name: 'fastify', only: ['^src/infra/http/', '^src/app/'] },
]

/** @type {Rule[]} */
const PROGRAMS = [
  {
    name: 'program-front-door',
    comment: 'The platform starts a separate program by its index.ts and knows nothing else of it.',
    from: { path: '^(src|bin)/', pathNot: TESTS },
    to: { path: '^programs/', pathNot: PROGRAM_INDEX },
  },
  {
    name: 'program-neighbour',
    comment: 'Separate programs do not share code; what they have in common is in the kernel.',
    from: { path: '^programs/([^/]+)/', pathNot: TESTS },
    to: { path: '^programs/', pathNot: '^programs/$1/' },
  },
  {
    name: 'vpn-client',
    comment:
      'The reference for clients of the gateway: the kernel, a WebSocket library, and what reads frames and tokens.',
    from: { path: VPN_CLIENT, pathNot: TESTS },
    to: {
      pathNot: [VPN_CLIENT, KERNEL, packages('ws', '@types/ws', 'typebox', 'jose')],
      dependencyTypesNot: ['core'],
    },
  },
]

/** @type {Rule[]} */
const DOMAINS = [
  {
    name: 'domain-front-door',
    comment: 'Outside a domain only its index.ts exists.',
    from: { path: '^(src|bin|programs)/', pathNot: ['^src/domains/', ...TESTS] },
    to: { path: '^src/domains/', pathNot: DOMAIN_INDEX },
  },
  {
    name: 'domain-neighbour-front-door',
    comment: 'A domain sees of another one what everybody sees.',
    from: { path: '^src/domains/([^/]+)/', pathNot: TESTS },
    to: { path: '^src/domains/', pathNot: ['^src/domains/$1/', DOMAIN_INDEX] },
  },
  {
    name: 'domain-neighbour-types',
    comment: 'A domain never calls another one: it states what it needs, and app hands it over.',
    from: { path: '^src/domains/([^/]+)/', pathNot: TESTS },
    to: { path: '^src/domains/', pathNot: '^src/domains/$1/', dependencyTypesNot: ['type-only'] },
  },
  {
    name: 'transaction-type',
    comment: 'Ports, wire and infra pass a transaction on; they never use the store.',
    from: { path: '^src/(ports|wire|infra)/', pathNot: TESTS },
    to: { path: '^src/store/', dependencyTypesNot: ['type-only'] },
  },
  {
    name: 'domain-model',
    comment: 'The pure rules of a domain stand on the kernel and the types of ports.',
    from: { path: '^src/domains/([^/]+)/model[.]ts$' },
    to: { pathNot: [KERNEL, PORTS, '^src/domains/$1/(model|tables)[.]ts$'] },
  },
  {
    name: 'ticket-notifier',
    comment:
      'Installed as two files: Node, the neighbour, and no more (docs/specification.md, Ticket notifier).',
    from: { path: '^programs/ticket-notify/', pathNot: [NOTIFICATION_MODULE, NOTIFIER_INDEX, ...TESTS] },
    to: { pathNot: '^programs/ticket-notify/', dependencyTypesNot: ['core'] },
  },
  {
    name: 'ticket-notifier-neighbour',
    comment: 'The notification module is the other file: it is loaded when it is needed, by its name.',
    from: { path: '^programs/ticket-notify/', pathNot: [NOTIFICATION_MODULE, NOTIFIER_INDEX, ...TESTS] },
    to: { path: [NOTIFICATION_MODULE, NOTIFIER_INDEX] },
  },
]

/** @type {Rule[]} */
const GENERAL = [
  {
    name: 'no-cycle',
    comment: 'Modules that need each other are one module, or hide a third that both need.',
    from: {},
    to: { circular: true },
  },
  {
    name: 'resolvable',
    comment: 'An import that leads nowhere escapes every other rule.',
    from: {},
    to: { couldNotResolve: true },
  },
  {
    name: 'no-development-package',
    comment: 'What runs in production is among the dependencies; its types may come from elsewhere.',
    from: { path: '^(src|bin|programs)/', pathNot: TESTS },
    to: { dependencyTypes: ['npm-dev'], dependencyTypesNot: ['type-only'] },
  },
  {
    name: 'no-test-in-product',
    comment: 'What runs in production must not need the tests.',
    from: { path: '^(src|bin|programs)/', pathNot: TESTS },
    to: { path: TESTS },
  },
]

/**
 * @param {typeof ROOMS[number]} room
 * @returns {Rule}
 */
const roomRule = ({ name, comment, path, mayImport, noOtherNodeModules = false }) => ({
  name: `room-${name}`,
  comment,
  from: { path, pathNot: TESTS },
  to: { pathNot: mayImport, ...(noOtherNodeModules ? {} : { dependencyTypesNot: ['core'] }) },
})

/**
 * @param {typeof DOORS[number]} door
 * @returns {Rule}
 */
const doorRule = ({ name, to, only }) => ({
  name: `door-${name}`,
  comment: `Seen only by ${only.join(', ')}.`,
  from: { path: '^(src|bin|programs)/', pathNot: [...only, ...TESTS] },
  to: { path: to },
})

const rules = [...GENERAL, ...ROOMS.map(roomRule), ...PROGRAMS, ...DOMAINS, ...DOORS.map(doorRule)]

/** @type {import('dependency-cruiser').IConfiguration} */
export default {
  forbidden: rules.map((rule) => ({ severity: /** @type {const} */ ('error'), ...rule })),
  options: {
    // Its own parser needs the JavaScript interface of TypeScript, which TypeScript 7 doesn't have: it would see
    // no module at all and be content.
    parser: 'swc',
    tsPreCompilationDeps: true,
    doNotFollow: { path: '^node_modules/' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['types', 'import', 'node', 'default'],
      mainFields: ['main', 'types'],
    },
  },
}
