// Builds the package for one architecture: node build-package.ts DIRECTORY ARCHITECTURE. Prints its path.
import { join } from 'node:path'
import packageJson from '../../package.json' with { type: 'json' }
import { ARCHITECTURES } from './architecture.ts'
import { packageVersion } from './commit.ts'
import { buildExecutable } from './executable.ts'
import { buildPackage } from './package.ts'

const [, , directory = '.', name = ''] = process.argv
const architecture = ARCHITECTURES.find((each) => each.name === name)
if (!architecture) throw new Error(`there is no architecture ${name}; expected x64 or arm64`)
const executable = join(directory, 'platform')
await buildExecutable({ output: executable, architecture })
console.log(
  buildPackage({ directory, architecture, executable, version: packageVersion(packageJson.version) }),
)
