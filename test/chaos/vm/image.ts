import { hash } from 'node:crypto'
import { spawnSync } from 'node:child_process'
import { accessSync, existsSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { arch, tmpdir } from 'node:os'
import { join } from 'node:path'

const BUILD = join(import.meta.dirname, 'build-image.sh')
const PROGRAMS: Readonly<Record<string, string>> = {
  'qemu-system-x86_64': 'qemu-system-x86',
  'qemu-img': 'qemu-utils',
  mmdebstrap: 'mmdebstrap',
  'mkfs.ext4': 'e2fsprogs',
  lz4: 'lz4',
  cpio: 'cpio',
}

/** Why there can be no guest on this system; undefined when there can. */
export function guestUnsupported(): string | undefined {
  if (arch() !== 'x64') return 'the guest is built for x64'
  if (process.getuid?.() !== 0) return 'building the guest needs root'
  const missing = Object.entries(PROGRAMS).filter(([program]) => !isInstalled(program))
  if (missing.length === 0) return undefined
  return `the guest needs: sudo apt-get install ${missing.map(([, name]) => name).join(' ')}`
}

/** The directory of the guest's image, which is built when there is none of this recipe: that takes a minute. */
export function guestImage(show: (text: string) => void): string {
  const recipe = hash('sha256', `${readFileSync(BUILD, 'utf8')}${process.version}`).slice(0, 12)
  const image = join(tmpdir(), `platform-guest-${recipe}`)
  if (existsSync(image)) return image
  show('builds the image of the guest')
  const unfinished = `${image}.tmp`
  runCommand(BUILD, [unfinished, process.execPath])
  renameSync(unfinished, image)
  return image
}

/** Makes the image of a disk that contains a directory. */
export function diskImageOf(directory: string, file: string): void {
  rmSync(file, { force: true })
  runCommand('truncate', ['-s', '128M', file])
  runCommand('mkfs.ext4', ['-q', '-F', '-m', '0', '-d', directory, file])
}

function runCommand(command: string, args: readonly string[]): void {
  const { status, stderr, error } = spawnSync(command, args, { encoding: 'utf8' })
  if (status !== 0) throw new Error(`${command} failed: ${error?.message ?? stderr}`)
}

function isInstalled(program: string): boolean {
  return (process.env['PATH'] ?? '').split(':').some((directory) => {
    try {
      accessSync(join(directory, program))
      return true
    } catch {
      return false
    }
  })
}
