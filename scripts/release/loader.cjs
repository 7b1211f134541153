// The first code of the executable: it runs the program, whose compiled code is an asset where the architecture of the
// build is that of the executable.
const { getAsset, getAssetKeys, getRawAsset } = require('node:sea')
const { constants, Script } = require('node:vm')

const CACHE = 'main.cache'

const script = new Script(getAsset('main.js', 'utf8'), {
  filename: 'platform',
  importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  ...(getAssetKeys().includes(CACHE) && { cachedData: Buffer.from(getRawAsset(CACHE)) }),
})
// Without its cache the program works, and starts in half as much time again: build the executable with its own runtime.
if (script.cachedDataRejected)
  process.emitWarning('the compiled code in this executable belongs to another runtime')
script.runInThisContext()(exports, require, module, __filename, __dirname)
