import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { eventually } from './eventually.ts'
import { freePort } from './loopback.ts'
import { createCertificate } from './smtp.ts'

const run = promisify(execFile)

/** Postfix starts as root only. */
export const canRunPostfix = process.getuid?.() === 0

export interface Postfix extends AsyncDisposable {
  /** Without a password; its certificate is self-signed. */
  readonly url: string
  /** The mails in the mailbox `ops` or `boss` of example.org, as they were delivered. */
  mails(mailbox: 'ops' | 'boss'): readonly string[]
  /** Refuses each recipient for now (450), or this one alone, until it is called with `false`. */
  greylist(whom: boolean | string): void
}

/**
 * A real mail server on the loopback address: it takes nothing without STARTTLS, knows two mailboxes, refuses the sender
 * blocked@example.org, and a mail whose subject has `poison` when it has got the whole of it.
 */
export async function startPostfix(): Promise<Postfix> {
  await using opening = new AsyncDisposableStack()
  const directory = mkdtempSync(join(tmpdir(), 'platform-postfix-'))
  opening.defer(() => rmSync(directory, { recursive: true, force: true }))
  // Its processes run as other users.
  chmodSync(directory, 0o755)
  const { certificate, owner } = {
    certificate: await createCertificate(directory),
    owner: await ownerOf('postfix'),
  }
  for (const name of ['queue', 'data', 'mail']) mkdirSync(join(directory, name))
  for (const name of ['data', 'mail']) chownSync(join(directory, name), owner.uid, owner.gid)
  const policy = opening.use(await startPolicy())
  const port = await freePort()
  writeFileSync(join(directory, 'cert-and-key.pem'), certificate.key + certificate.cert, { mode: 0o600 })
  writeFileSync(join(directory, 'main.cf'), mainConfig(directory, { ...owner, policyPort: policy.port }))
  writeFileSync(join(directory, 'master.cf'), masterConfig(port))
  const server = spawn('/usr/sbin/postfix', ['-c', directory, 'start-fg'], { stdio: 'ignore' })
  const ended = once(server, 'exit')
  opening.defer(async () => {
    await run('/usr/sbin/postfix', ['-c', directory, 'stop']).catch(() => undefined)
    await ended
  })
  await eventually('Postfix answers', () => {
    if (server.exitCode !== null) throw new Error('Postfix has not started.')
    return canConnect(port)
  })
  const opened = opening.move()
  return {
    url: `smtp://localhost:${port}/?tls.rejectUnauthorized=false`,
    greylist: policy.greylist,
    mails(mailbox) {
      const folder = join(directory, 'mail', mailbox, 'new')
      return readdirIfAny(folder).map((name) => readFileSync(join(folder, name), 'utf8'))
    },
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  }
}

async function canConnect(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  try {
    await once(socket, 'connect')
    return true
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}

async function ownerOf(user: string) {
  const idOf = async (option: string) => Number((await run('id', [option, user])).stdout)
  return { uid: await idOf('-u'), gid: await idOf('-g') }
}

function readdirIfAny(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

/** The server that Postfix asks about each recipient (https://www.postfix.org/SMTPD_POLICY_README.html). */
async function startPolicy() {
  let greylisted: boolean | string = false
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('data', (chunk: Buffer) => {
      const request = chunk.toString()
      if (!request.endsWith('\n\n')) return
      const isGreylisted =
        greylisted === true || (greylisted !== false && request.includes(`\nrecipient=${greylisted}\n`))
      socket.write(`action=${isGreylisted ? 'defer_if_permit Greylisted, try again later' : 'dunno'}\n\n`)
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    greylist(whom: boolean | string) {
      greylisted = whom
    },
    async [Symbol.asyncDispose]() {
      server.close()
      for (const socket of sockets) socket.destroy()
      await once(server, 'close')
    },
  }
}

function mainConfig(
  directory: string,
  { uid, gid, policyPort }: { readonly uid: number; readonly gid: number; readonly policyPort: number },
): string {
  return [
    'compatibility_level = 3.6',
    `queue_directory = ${directory}/queue`,
    `data_directory = ${directory}/data`,
    `maillog_file = ${directory}/data/mail.log`,
    `maillog_file_prefixes = ${directory}`,
    'inet_interfaces = 127.0.0.1',
    'inet_protocols = ipv4',
    'myhostname = mail.example.org',
    'mydestination =',
    'alias_maps =',
    'alias_database =',
    'virtual_mailbox_domains = example.org',
    `virtual_mailbox_base = ${directory}/mail`,
    'virtual_mailbox_maps = inline:{ops@example.org=ops/, boss@example.org=boss/}',
    `virtual_uid_maps = static:${uid}`,
    `virtual_gid_maps = static:${gid}`,
    'virtual_minimum_uid = 1',
    'smtpd_tls_security_level = encrypt',
    `smtpd_tls_chain_files = ${directory}/cert-and-key.pem`,
    'smtpd_tls_received_header = yes',
    'smtpd_delay_reject = no',
    'smtpd_sender_restrictions = check_sender_access inline:{blocked@example.org=REJECT}',
    'smtpd_relay_restrictions = reject_unauth_destination',
    `smtpd_recipient_restrictions = reject_unlisted_recipient, check_policy_service inet:127.0.0.1:${policyPort}`,
    'header_checks = regexp:{{/^Subject:.*poison/ REJECT no poison here}}',
    '',
  ].join('\n')
}

const SERVICES = [
  ['cleanup', 'unix n - n - 0 cleanup'],
  ['qmgr', 'unix n - n 300 1 qmgr'],
  ['tlsmgr', 'unix - - n 1000? 1 tlsmgr'],
  ['rewrite', 'unix - - n - - trivial-rewrite'],
  ['bounce', 'unix - - n - 0 bounce'],
  ['defer', 'unix - - n - 0 bounce'],
  ['trace', 'unix - - n - 0 bounce'],
  ['proxymap', 'unix - - n - - proxymap'],
  ['error', 'unix - - n - - error'],
  ['retry', 'unix - - n - - error'],
  ['virtual', 'unix - n n - - virtual'],
  ['anvil', 'unix - - n - 1 anvil'],
  ['postlog', 'unix-dgram n - n - 1 postlogd'],
] as const

function masterConfig(port: number): string {
  const services = SERVICES.map((service) => service.join(' '))
  return [`127.0.0.1:${port} inet n - n - - smtpd`, ...services, ''].join('\n')
}
