// The dependency rules (ARCHITECTURE.md) as data. Run by scripts/check-layers.ts.

/** @typedef {import('dependency-cruiser').IForbiddenRuleType} Rule */

const TESTS = ['[.]test[.]ts$', '^test/', '^bench/']
const KERNEL = '^src/kernel/'
const PORTS = '^src/ports/'
const WIRE = '^src/wire/'
const CONFIG = '^src/config/'
// Contains the type of a transaction, the only export of the store that routes and ports use.
const TRANSACTION = '^src/store/store[.]ts$'
const PROGRAM_INDEX = '^programs/([^/]+/(index|declared-alerts)|mock-server/value-error)[.]ts$'
// What the mock programs have in common.
const MOCK_SERVER = '^programs/mock-server/'
// Locks and replaced files, for the programs that keep some.
const SHARED_FILES = '^programs/files/'
// These two need only Node.js. The first one is of both sides of a request.
const IDENTITY_SIGNATURE = '^src/kernel/identity-signature[.]ts$'
const JOURNAL = '^src/config/journal[.]ts$'
const NOTIFICATION_MODULE = '^programs/ticket-notify/(notify[.]ts$|notification/)'
const NOTIFIER_INDEX = '^programs/ticket-notify/index[.]ts$'
const VPN_CLIENT = '^programs/vpn-client/'
// The backup proves that a gateway takes clients: with the code of a client, so that both mean the same.
const VPN_CLIENT_INDEX = '^programs/vpn-client/index[.]ts$'
// What the console and the client for programs have in common.
const CLIENT_IN_BROWSER =
  '^clients/typescript/src/(errors|event-stream|generated|operations|target|timing)[.]ts$'
const DOMAIN_INDEX = '^src/domains/[^/]+/index[.]ts$'

/** @param {string[]} names */
const packages = (...names) => `^node_modules/(${names.join('|')})/`

/** What the files of each folder may import. Modules of Node.js are allowed, too, unless `noOtherNodeModules` is set. */
const FOLDERS = [
  {
    name: 'kernel',
    comment: 'Shared types and pure functions: no I/O, no npm package, no other folder.',
    path: KERNEL,
    mayImport: [KERNEL, '^(node:)?(async_hooks|crypto|util|perf_hooks|timers/promises)$'],
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
    comment: 'The configuration is read before anything else is created.',
    path: CONFIG,
    mayImport: [CONFIG, KERNEL, packages('leven', 'smol-toml')],
  },
  {
    name: 'wire',
    comment: 'Describes the HTTP API for the domains and the server, and depends on neither.',
    path: WIRE,
    mayImport: [WIRE, KERNEL, TRANSACTION, packages('typebox')],
  },
  {
    name: 'store',
    comment: 'Does not know the domains, which declare their own tables.',
    path: '^src/store/',
    mayImport: [
      '^src/store/',
      KERNEL,
      PORTS,
      packages('kysely', 'lru-cache', 'pg', '@types/pg', 'pg-copy-streams', '@types/pg-copy-streams'),
    ],
  },
  {
    name: 'domains',
    comment: 'Rules and operations; app passes the dependencies to a domain.',
    path: '^src/domains/',
    mayImport: [
      '^src/domains/',
      '^src/store/',
      KERNEL,
      PORTS,
      WIRE,
      packages('kysely', 'typebox', 'lru-cache', 'croner', 're2js', '@zxcvbn-ts/language-common'),
    ],
  },
  {
    name: 'infra',
    comment: 'Adapters depend neither on a domain, nor on the database, nor on app.',
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
    mayImport: [
      '^programs/',
      CONFIG,
      KERNEL,
      PORTS,
      '^src/infra/(robots|mail|connections)/',
      '^node_modules/',
    ],
  },
  {
    name: 'console',
    comment: 'Runs in a browser, and uses the platform only through its HTTP API.',
    path: '^console/',
    mayImport: [
      '^console/',
      CLIENT_IN_BROWSER,
      packages('preact', 'preact-iso', '@preact/signals', 'lucide', 'uqr'),
    ],
    noOtherNodeModules: true,
  },
  {
    name: 'clients',
    comment: 'Published packages without dependencies: they contain what they import of the platform.',
    path: '^clients/',
    mayImport: ['^clients/', KERNEL, VPN_CLIENT_INDEX],
    noOtherNodeModules: true,
  },
]

/** Packages and modules that only some folders may import. */
const RESTRICTED_PACKAGES = [
  { to: '^(node:)?sqlite$', name: 'sqlite', only: ['^src/store/dialects/'] },
  {
    to: packages('pg', '@types/pg', 'pg-copy-streams', '@types/pg-copy-streams'),
    name: 'pg',
    only: ['^src/store/dialects/'],
  },
  { to: packages('@nats-io/[^/]+'), name: 'nats', only: ['^src/infra/bus/'] },
  { to: packages('@opentelemetry/[^/]+'), name: 'opentelemetry', only: ['^src/infra/traces/'] },
  { to: packages('openid-client'), name: 'openid-client', only: ['^src/infra/oidc/'] },
  { to: packages('ws', '@types/ws'), name: 'ws', only: ['^src/infra/ws/', VPN_CLIENT] },
  { to: packages('fastify', '@fastify/[^/]+'), name: 'fastify', only: ['^src/infra/http/', '^src/app/'] },
]

/** @type {Rule[]} */
const PROGRAMS = [
  {
    name: 'program-index-only',
    comment: 'The platform imports only the index.ts and the declared alerts of a separate program.',
    from: { path: '^(src|bin)/', pathNot: TESTS },
    to: { path: '^programs/', pathNot: PROGRAM_INDEX },
  },
  {
    name: 'programs-separate',
    comment:
      'Separate programs do not import each other, except for the client of the gateway; shared code is in the kernel and ' +
      'in files, that of mock servers in mock-server.',
    from: { path: '^programs/([^/]+)/', pathNot: TESTS },
    to: { path: '^programs/', pathNot: ['^programs/$1/', MOCK_SERVER, SHARED_FILES, VPN_CLIENT_INDEX] },
  },
  {
    name: 'shared-files',
    comment: 'The ticket notifier is installed with these files, and needs only Node.js.',
    from: { path: SHARED_FILES, pathNot: TESTS },
    to: { pathNot: SHARED_FILES, dependencyTypesNot: ['core'] },
  },
  {
    name: 'vpn-client',
    comment:
      'The reference for clients of the gateway needs only the kernel and the libraries for WebSocket, schemas and tokens.',
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
    name: 'domain-index-only',
    comment: 'Other code imports only the index.ts of a domain.',
    from: { path: '^(src|bin|programs)/', pathNot: ['^src/domains/', ...TESTS] },
    to: { path: '^src/domains/', pathNot: DOMAIN_INDEX },
  },
  {
    name: 'other-domain-index-only',
    comment: 'A domain, too, imports only the index.ts of another domain.',
    from: { path: '^src/domains/([^/]+)/', pathNot: TESTS },
    to: { path: '^src/domains/', pathNot: ['^src/domains/$1/', DOMAIN_INDEX] },
  },
  {
    name: 'other-domain-types-only',
    comment: 'A domain never calls another one: it declares its dependencies, and app passes them.',
    from: { path: '^src/domains/([^/]+)/', pathNot: TESTS },
    to: { path: '^src/domains/', pathNot: '^src/domains/$1/', dependencyTypesNot: ['type-only'] },
  },
  {
    name: 'transaction-type',
    comment: 'Ports, wire and infra pass a transaction on, but never use the store themselves.',
    from: { path: '^src/(ports|wire|infra)/', pathNot: TESTS },
    to: { path: '^src/store/', dependencyTypesNot: ['type-only'] },
  },
  {
    name: 'domain-model',
    comment: 'The pure rules of a domain depend only on each other, the kernel and the types of ports.',
    from: { path: '^src/domains/([^/]+)/model[.]ts$' },
    to: { pathNot: [KERNEL, PORTS, '^src/domains/$1/(model|tables|schedule)[.]ts$'] },
  },
  {
    name: 'ticket-notifier',
    comment:
      'Installed as two files that need only Node.js and each other (docs/specification.md, Ticket notifier).',
    from: { path: '^programs/ticket-notify/', pathNot: [NOTIFICATION_MODULE, NOTIFIER_INDEX, ...TESTS] },
    to: {
      pathNot: ['^programs/ticket-notify/', SHARED_FILES, IDENTITY_SIGNATURE, JOURNAL],
      dependencyTypesNot: ['core'],
    },
  },
  {
    name: 'ticket-notifier-second-file',
    comment: 'The notification module is the second file: it is loaded by its file name when it is needed.',
    from: { path: '^programs/ticket-notify/', pathNot: [NOTIFICATION_MODULE, NOTIFIER_INDEX, ...TESTS] },
    to: { path: [NOTIFICATION_MODULE, NOTIFIER_INDEX] },
  },
]

/** @type {Rule[]} */
const GENERAL = [
  {
    name: 'no-cycle',
    comment: 'Modules must not import each other: join them, or move what both need to a third module.',
    from: {},
    to: { circular: true },
  },
  {
    name: 'resolvable',
    comment: 'An import that cannot be resolved is not covered by the other rules.',
    from: {},
    to: { couldNotResolve: true },
  },
  {
    name: 'no-development-package',
    comment: 'Production code uses no development dependency, except for types.',
    from: { path: '^(src|bin|programs)/', pathNot: TESTS },
    to: { dependencyTypes: ['npm-dev'], dependencyTypesNot: ['type-only'] },
  },
  {
    name: 'no-test-in-product',
    comment: 'Production code must not import tests.',
    from: { path: '^(src|bin|programs)/', pathNot: TESTS },
    to: { path: TESTS },
  },
]

/**
 * @param {typeof FOLDERS[number]} folder
 * @returns {Rule}
 */
const folderRule = ({ name, comment, path, mayImport, noOtherNodeModules = false }) => ({
  name: `folder-${name}`,
  comment,
  from: { path, pathNot: TESTS },
  to: { pathNot: mayImport, ...(noOtherNodeModules ? {} : { dependencyTypesNot: ['core'] }) },
})

/**
 * @param {typeof RESTRICTED_PACKAGES[number]} restriction
 * @returns {Rule}
 */
const restrictedPackageRule = ({ name, to, only }) => ({
  name: `package-${name}`,
  comment: `Only ${only.join(', ')} may import it.`,
  from: { path: '^(src|bin|programs)/', pathNot: [...only, ...TESTS] },
  to: { path: to },
})

const rules = [
  ...GENERAL,
  ...FOLDERS.map(folderRule),
  ...PROGRAMS,
  ...DOMAINS,
  ...RESTRICTED_PACKAGES.map(restrictedPackageRule),
]

/** @type {import('dependency-cruiser').IConfiguration} */
export default {
  forbidden: rules.map((rule) => ({ severity: /** @type {const} */ ('error'), ...rule })),
  options: {
    // The default parser needs the JavaScript API of TypeScript, which TypeScript 7 does not have. It would find no module
    // and report no error.
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
