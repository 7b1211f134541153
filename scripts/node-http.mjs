// The exports of node:http. An import of node:http itself reads all of them, and so loads the WebSocket of undici, which
// takes as long as the start of Node.js (measured with 26.10).
const http = process.getBuiltinModule('node:http')

// oxlint-disable-next-line import/no-default-export -- node:http has one
export default http
export const {
  Agent,
  ClientRequest,
  IncomingMessage,
  METHODS,
  OutgoingMessage,
  STATUS_CODES,
  Server,
  ServerResponse,
  createServer,
  get,
  globalAgent,
  maxHeaderSize,
  request,
  setGlobalProxyFromEnv,
  setMaxIdleHTTPParsers,
  validateHeaderName,
  validateHeaderValue,
} = http
