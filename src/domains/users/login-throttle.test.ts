import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AppError } from '../../kernel/errors.ts'
import { MINUTE } from '../../kernel/time.ts'
import { fakeClock } from '../../../test/support/clock.ts'
import { createLoginThrottle, type LoginThrottle } from './login-throttle.ts'

function world() {
  const clock = fakeClock()
  return { clock, throttle: createLoginThrottle(clock) }
}

function fail(
  throttle: LoginThrottle,
  times: number,
  name: (n: number) => string,
  address: (n: number) => string,
) {
  for (let n = 0; n < times; n++) throttle.begin(name(n), address(n))
}

const ada = () => 'ada'
const here = () => '192.0.2.1'
const each = (prefix: string) => (n: number) => `${prefix}${n}`

function assertThrottled(run: () => unknown, seconds?: number): void {
  assert.throws(
    run,
    (error) =>
      error instanceof AppError &&
      error.code === 'rate_limited' &&
      (seconds === undefined ? (error.retryAfterSeconds ?? 0) > 0 : error.retryAfterSeconds === seconds),
  )
}

test('ten failures for a name from one address block that name and address until the window ends', () => {
  const { clock, throttle } = world()
  fail(throttle, 10, ada, here)
  clock.advance(MINUTE)
  assertThrottled(() => throttle.begin('ada', here()), 240)
  throttle.begin('ada', '192.0.2.2')
  throttle.begin('grace', here())
  clock.advance(4 * MINUTE)
  throttle.begin('ada', here())
})

test('attempts in progress count, so parallel guesses have no advantage', () => {
  const { throttle } = world()
  const attempts = Array.from({ length: 10 }, () => throttle.begin('ada', here()))
  assertThrottled(() => throttle.begin('ada', here()))
  attempts[0]?.cancel()
  throttle.begin('ada', here())
  assertThrottled(() => throttle.begin('ada', here()))
})

test('the case of a name does not matter', () => {
  const { throttle } = world()
  fail(throttle, 10, (n) => (n % 2 ? 'Ada' : 'ADA'), here)
  assertThrottled(() => throttle.begin('ada', here()))
})

test('a success clears the failures of its name', () => {
  const { throttle } = world()
  fail(throttle, 9, ada, here)
  throttle.begin('ada', here()).succeed()
  fail(throttle, 10, ada, here)
  assertThrottled(() => throttle.begin('ada', here()))
})

test('fifty failures for a name block it for every address', () => {
  const { throttle } = world()
  fail(throttle, 50, ada, each('192.0.2.'))
  assertThrottled(() => throttle.begin('ada', '198.51.100.1'))
})

test('a hundred failures from one address block it, and a success of another user does not unblock it', () => {
  const { throttle } = world()
  fail(throttle, 99, each('user'), here)
  throttle.begin('mallory', here()).succeed()
  throttle.begin('user100', here())
  assertThrottled(() => throttle.begin('user101', here()))
})

test('refused attempts do not extend the wait', () => {
  const { clock, throttle } = world()
  fail(throttle, 10, ada, here)
  for (let n = 0; n < 100; n++) assertThrottled(() => throttle.begin('ada', here()))
  clock.advance(5 * MINUTE)
  throttle.begin('ada', here())
})

test('20,000 refused attempts do not evict the failures of another name', () => {
  const { throttle } = world()
  fail(throttle, 50, ada, each('192.0.2.'))
  fail(throttle, 100, each('user'), () => '198.51.100.1')
  for (let n = 0; n < 20_000; n++) assertThrottled(() => throttle.begin(`name${n}`, '198.51.100.1'))
  assertThrottled(() => throttle.begin('ada', '203.0.113.1'))
})

test('20,000 cancelled attempts do not evict the failures of another name', () => {
  const { throttle } = world()
  fail(throttle, 50, ada, each('192.0.2.'))
  for (let n = 0; n < 20_000; n++) throttle.begin(`name${n}`, each('198.51.100.')(n)).cancel()
  assertThrottled(() => throttle.begin('ada', '203.0.113.1'))
})

test('a full counter evicts the window that ends first', () => {
  const { clock, throttle } = world()
  fail(throttle, 50, each('early'), each('192.0.2.'))
  clock.advance(MINUTE)
  fail(throttle, 50, ada, each('203.0.113.'))
  fail(throttle, 19_999, each('name'), each('198.51.100.'))
  assertThrottled(() => throttle.begin('ada', '203.0.113.200'))
})

test('the addresses of one IPv6 /64 count as one', () => {
  const { throttle } = world()
  fail(throttle, 10, ada, (n) => `2001:db8:0:7::${n.toString(16)}`)
  assertThrottled(() => throttle.begin('ada', '2001:DB8:0:7:ffff:ffff:ffff:ffff'))
  throttle.begin('ada', '2001:db8:0:8::1')
})
