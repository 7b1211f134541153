import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readClientFrame } from './frames.ts'

const OTHERS = '"type":"request","id":1,"method":"POST","path":"/"'

function bodyOf(frame: string): string | undefined {
  const read = readClientFrame(frame)
  assert.ok(read?.type === 'request', frame)
  return read.body
}

const BODIES = [
  '1e400',
  '1.50',
  '{"a":1,"a":2}',
  '{ "a" :\t[ 1 ,\r\n2 ] }',
  String.raw`{"b\u006fdy":"\u00e4\/\"\\","}":"\\\\\"","c":"\\"}`,
  '["}",{"]":"{"},",",[[]],{}]',
  'null',
  '""',
  '"\\"body\\":1,"',
  `${'['.repeat(30_000)}${']'.repeat(30_000)}`,
]

for (const body of BODIES) {
  test(`the body ${JSON.stringify(body.slice(0, 40))} is read as it is written`, () => {
    assert.equal(bodyOf(`{${OTHERS},"body":${body}}`), body)
    assert.equal(bodyOf(` { "body" : ${body} , ${OTHERS} } `), body)
    assert.equal(bodyOf(`{${OTHERS},"trace":{"body":[0,{"body":1}]},"b\\u006fdy":${body},"x":1}`), body)
  })
}

test('a frame without a body has none', () => {
  assert.equal(bodyOf(`{${OTHERS}}`), undefined)
  assert.equal(bodyOf(`{${OTHERS},"trace":{"body":1},"headers":{"body":"1"}}`), undefined)
})

const AMBIGUOUS = [
  `{${OTHERS},"id":2}`,
  `{${OTHERS},"p\\u0061th":"/a"}`,
  `{${OTHERS},"body":1,"body":2}`,
  `{"body":{},${OTHERS},"b\\u006fdy":{}}`,
  `{${OTHERS},"headers":{"a":"1","a":"2"}}`,
  `{${OTHERS},"headers":{"a":"1","a":"2"},"body":{"a":1}}`,
]

for (const frame of AMBIGUOUS) {
  test(`${frame} is not valid`, () => {
    assert.equal(readClientFrame(frame), undefined)
  })
}

for (const field of ['', ',"token":1', ',"token":null', ',"token":["a"]']) {
  test(`{"type":"renew"${field}} is a renewal without a token`, () => {
    assert.deepEqual(readClientFrame(`{"type":"renew"${field}}`), { type: 'renew', token: undefined })
  })
}
