import assert from 'node:assert/strict'
import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { GuestAgent, type CommandResult } from './guest-agent.ts'
import { JsonLines } from './json-lines.ts'

export interface GuestOptions {
  /** Contains `root.img`, `vmlinux` and `initrd`. */
  readonly image: string
  /** A directory for the disk, the sockets and the log of this guest. */
  readonly directory: string
  /** The image of the second disk, which is read-only. */
  readonly release: string
  /** Ports of the host that lead to ports of the guest. */
  readonly ports: Readonly<Record<number, number>>
}

const READY = /GUEST-READY ([0-9a-f-]{36})/g
const POLL_MS = 100
const BOOT_MS = 300_000
const KERNEL_OPTIONS =
  'console=ttyS0 quiet panic=-1 mitigations=off nokaslr net.ifnames=0 audit=0 apparmor=0 random.trust_cpu=on ' +
  'tsc=reliable systemd.show_status=0'

/** A virtual machine whose disk survives a power cut, as that of a real one does. */
export class Guest {
  readonly #options: GuestOptions
  #qemu: ChildProcess | undefined
  #monitor: JsonLines | undefined
  #agent: GuestAgent | undefined
  #resets = 0

  constructor(options: GuestOptions) {
    this.#options = options
    const { image, directory } = options
    const disk = join(directory, 'disk.qcow2')
    const made = spawnSync('qemu-img', [
      'create',
      '-q',
      '-f',
      'qcow2',
      '-F',
      'raw',
      '-b',
      join(image, 'root.img'),
      disk,
    ])
    assert.equal(made.status, 0, String(made.stderr))
  }

  /** How often the guest has restarted itself. */
  get resets(): number {
    return this.#resets
  }

  /** Boots at this time, an RFC 3339 time in UTC, and resolves when the guest is ready. */
  async start(time: string): Promise<void> {
    this.#qemu = spawn('qemu-system-x86_64', this.#arguments(time), {
      stdio: ['ignore', 'inherit', 'inherit'],
    })
    this.#monitor = await JsonLines.connect(join(this.#options.directory, 'qmp'), (message) => {
      if (message['event'] === 'RESET') this.#resets++
    })
    this.#monitor.send({ execute: 'qmp_capabilities' })
    this.#agent = await GuestAgent.connect(join(this.#options.directory, 'agent'))
    await this.untilReady(this.boots.length)
  }

  /** The boot ids that the console has shown, one for each boot that became ready. */
  get boots(): readonly string[] {
    const log = join(this.#options.directory, 'serial.log')
    if (!existsSync(log)) return []
    return [...readFileSync(log, 'latin1').matchAll(READY)].map(([, id = '']) => id)
  }

  /** Resolves when the guest has become ready more often than that. */
  async untilReady(after: number): Promise<void> {
    const deadline = performance.now() + BOOT_MS
    while (this.boots.length <= after) {
      assert.ok(performance.now() < deadline, 'the guest does not become ready')
      await pause(POLL_MS)
    }
    await this.#requireAgent().synchronize()
  }

  /** Runs a command in the guest, without a shell. */
  run(program: string, ...args: readonly string[]): Promise<CommandResult> {
    return this.#requireAgent().run(program, args)
  }

  /** Runs a script of `/bin/sh` in the guest and returns its output; rejects when it fails. */
  async script(text: string): Promise<string> {
    const { code, stdout, stderr } = await this.run('/bin/sh', '-ec', text)
    assert.equal(code, 0, `${text}\n${stdout}${stderr}`)
    return stdout
  }

  /** Takes the power away: what was not flushed is lost. */
  async cutPower(): Promise<void> {
    const qemu = this.#qemu
    this.#qemu = undefined
    this.#agent?.close()
    this.#monitor?.close()
    if (!qemu || qemu.exitCode !== null) return
    const ended = once(qemu, 'exit')
    qemu.kill('SIGKILL')
    await ended
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.cutPower()
  }

  #requireAgent(): GuestAgent {
    assert.ok(this.#agent, 'the guest is not started')
    return this.#agent
  }

  #arguments(time: string): string[] {
    const { image, directory, release, ports } = this.#options
    const forwards = Object.entries(ports).map(([host, guest]) => `,hostfwd=tcp:127.0.0.1:${host}-:${guest}`)
    return [
      ['-M', 'pc', '-accel', 'tcg,thread=multi,tb-size=256', '-cpu', 'Nehalem', '-smp', '2', '-m', '1024'],
      ['-nodefaults', '-no-user-config', '-display', 'none'],
      ['-kernel', join(image, 'vmlinux'), '-initrd', join(image, 'initrd'), '-append', KERNEL_OPTIONS],
      disk('d0', `file=${join(directory, 'disk.qcow2')},format=qcow2,cache=writeback`),
      disk('d1', `file=${release},format=raw,readonly=on`),
      ['-netdev', `user,id=n0${forwards.join('')}`],
      ['-device', 'virtio-net-pci,netdev=n0,romfile=', '-device', 'virtio-rng-pci'],
      ['-device', 'virtio-serial-pci'],
      ['-chardev', `socket,id=agent,path=${join(directory, 'agent')},server=on,wait=off`],
      ['-device', 'virtserialport,chardev=agent,name=org.qemu.guest_agent.0'],
      ['-chardev', `file,id=serial,path=${join(directory, 'serial.log')},append=on`],
      ['-serial', 'chardev:serial'],
      ['-qmp', `unix:${join(directory, 'qmp')},server=on,wait=off`],
      ['-rtc', `base=${time.slice(0, 19)},clock=vm`],
    ].flat()
  }
}

function disk(id: string, options: string): string[] {
  return ['-drive', `${options},if=none,id=${id}`, '-device', `virtio-blk-pci,drive=${id}`]
}
