// Loaded before each test file, so that its process starts as fast as `platform` does.
import { existsSync } from 'node:fs'
import { keepCompiledCode, useDependencyBundle } from './fast-start.mjs'
import { installedPackages } from './runtime.mjs'

if (existsSync(installedPackages)) {
  keepCompiledCode()
  useDependencyBundle()
}
