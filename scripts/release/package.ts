import {
  chmodSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { findRuntime, root } from '../runtime.mjs'
import type { Architecture } from './architecture.ts'
import { runToEnd } from './run-to-end.ts'

const NAME = 'backend-platform'
const MAINTAINER = 'Maintainers of the platform <platform@maintainers.invalid>'
const DOCUMENTS = `usr/share/doc/${NAME}`
const UNITS = 'usr/lib/systemd/system'
/** The documents and the examples that they link to, with the paths of the checkout, so that the links work. */
const READING_MATTER = [
  '{README,SECURITY,CHANGELOG}.md',
  'docs/**/*.{md,json,svg}',
  'deploy/{cluster,container,grafana,prometheus,proxies,systemd,two-servers}/*',
]
/** The time of all files, unless the environment has another one: 2026-01-01. */
const EPOCH = '1767225600'

export interface PackageOptions {
  /** The directory to write the package into. */
  readonly directory: string
  readonly architecture: Architecture
  /** The executable for that architecture. */
  readonly executable: string
  readonly version: string
}

interface PackagedFile {
  /** From the root of the system. */
  readonly path: string
  readonly content: string | Uint8Array
  readonly mode?: number
}

/** Builds the package for Debian and returns its path. Two packages of one executable are equal. */
export function buildPackage(options: PackageOptions): string {
  const { directory, version, architecture } = options
  const tree = mkdtempSync(join(tmpdir(), 'platform-package-'))
  const file = join(directory, `${NAME}_${version}_${architecture.debian}.deb`)
  const epoch = process.env['SOURCE_DATE_EPOCH'] ?? EPOCH
  // Directories get the modes of the package whatever the umask of the builder is.
  const umask = process.umask(0o022)
  try {
    chmodSync(tree, 0o755)
    for (const each of [...contents(options), ...documents(version, Number(epoch))]) install(tree, each)
    for (const each of controlFiles(options, installedKibibytes(tree))) install(tree, each)
    const env = { SOURCE_DATE_EPOCH: epoch }
    runToEnd('dpkg-deb', ['--root-owner-group', '-Zxz', '-z1', '--build', tree, file], { env })
    return file
  } finally {
    process.umask(umask)
    rmSync(tree, { recursive: true, force: true })
  }
}

function contents({ executable }: PackageOptions): PackagedFile[] {
  const unit = (name: string) => ({
    path: `${UNITS}/${name}`,
    content: readProjectFile(`deploy/systemd/${name}`),
  })
  return [
    { path: 'usr/bin/platform', content: readFileSync(executable), mode: 0o755 },
    unit('platform.service'),
    unit('platform@.service'),
    { path: 'etc/platform/platform.toml', content: readProjectFile('deploy/systemd/platform.toml') },
    { path: 'usr/share/bash-completion/completions/platform', content: outputOf('completion', 'bash') },
    { path: 'usr/share/zsh/vendor-completions/_platform', content: outputOf('completion', 'zsh') },
    { path: 'usr/share/fish/vendor_completions.d/platform.fish', content: outputOf('completion', 'fish') },
    { path: 'usr/share/man/man1/platform.1.gz', content: gzip(outputOf('manual')) },
    {
      path: `usr/share/lintian/overrides/${NAME}`,
      content: readProjectFile('deploy/debian/lintian-overrides'),
    },
  ]
}

function documents(version: string, epoch: number): PackagedFile[] {
  const date = new Date(epoch * 1_000).toUTCString().replace('GMT', '+0000')
  const entry = `${NAME} (${version}) stable; urgency=medium\n\n  * See CHANGELOG.md.\n\n -- ${MAINTAINER}  ${date}\n`
  return [
    { path: `${DOCUMENTS}/copyright`, content: readProjectFile('LICENSE') },
    { path: `${DOCUMENTS}/changelog.gz`, content: gzip(entry) },
    ...globSync(READING_MATTER, { cwd: root })
      .sort()
      .map((name) => ({ path: `${DOCUMENTS}/${name}`, content: readProjectFile(name) })),
  ]
}

function controlFiles({ version, architecture }: PackageOptions, installedSize: number): PackagedFile[] {
  const fields = {
    Package: NAME,
    Version: version,
    Architecture: architecture.debian,
    Maintainer: MAINTAINER,
    'Installed-Size': String(installedSize),
    // The libraries of the runtime.
    Depends:
      'adduser, init-system-helpers (>= 1.54~), libatomic1, libc6 (>= 2.28), libgcc-s1, libstdc++6 (>= 11)',
    Suggests: 'nats-server, postgresql',
    Section: 'net',
    Priority: 'optional',
    Description: `orders, messages, alerts, tickets and a VPN gateway
 One executable serves an HTTP API, delivers events to a message bus, and
 accepts the sessions of a zero-trust VPN. It needs no other program: the
 database is embedded, and the message bus may be away.`,
  }
  const control = Object.entries(fields).map(([name, value]) => `${name}: ${value}\n`)
  const script = (name: string) => ({
    path: `DEBIAN/${name}`,
    content: readProjectFile(`deploy/debian/${name}`),
    mode: 0o755,
  })
  return [
    { path: 'DEBIAN/control', content: control.join('') },
    { path: 'DEBIAN/conffiles', content: '/etc/platform/platform.toml\n' },
    ...['postinst', 'prerm', 'postrm'].map(script),
  ]
}

function install(tree: string, { path, content, mode = 0o644 }: PackagedFile): void {
  const file = join(tree, path)
  mkdirSync(dirname(file), { recursive: true, mode: 0o755 })
  writeFileSync(file, content)
  chmodSync(file, mode)
}

function installedKibibytes(tree: string): number {
  const files = globSync('**', { cwd: tree }).map((name) => statSync(join(tree, name)))
  return files.reduce((sum, { size }) => sum + Math.ceil(size / 1_024), 0)
}

/** A text file of this checkout. */
function readProjectFile(path: string): string {
  return readFileSync(join(root, path), 'utf8')
}

/** What a command of this checkout prints. */
function outputOf(...args: readonly string[]): string {
  return runToEnd(findRuntime(), [join(root, 'bin/platform.mjs'), ...args])
}

function gzip(text: string): Uint8Array {
  return gzipSync(text, { level: 9 })
}
