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

function isThrottled(run: () => unknown, seconds?: number): void {
  assert.throws(
    run,
    (error) =>
      error instanceof AppError &&
      error.code === 'rate_limited' &&
      (seconds === undefined ? (error.retryAfterSeconds ?? 0) > 0 : error.retryAfterSeconds === seconds),
  )
}

test('ten failures for a name from an address close that pair until the window ends', () => {
  const { clock, throttle } = world()
  fail(throttle, 10, ada, here)
  clock.advance(MINUTE)
  isThrottled(() => throttle.begin('ada', here()), 240)
  throttle.begin('ada', '192.0.2.2')
  throttle.begin('grace', here())
  clock.advance(4 * MINUTE)
  throttle.begin('ada', here())
})

test('tries that are under way count, so that many at once gain nothing', () => {
  const { throttle } = world()
  const attempts = Array.from({ length: 10 }, () => throttle.begin('ada', here()))
  isThrottled(() => throttle.begin('ada', here()))
  attempts[0]?.withdrawn()
  throttle.begin('ada', here())
  isThrottled(() => throttle.begin('ada', here()))
})

test('the case of a name does not matter', () => {
  const { throttle } = world()
  fail(throttle, 10, (n) => (n % 2 ? 'Ada' : 'ADA'), here)
  isThrottled(() => throttle.begin('ada', here()))
})

test('a success forgives the failures of its name', () => {
  const { throttle } = world()
  fail(throttle, 9, ada, here)
  throttle.begin('ada', here()).succeeded()
  fail(throttle, 10, ada, here)
  isThrottled(() => throttle.begin('ada', here()))
})

test('fifty failures for a name close it to every address', () => {
  const { throttle } = world()
  fail(throttle, 50, ada, each('192.0.2.'))
  isThrottled(() => throttle.begin('ada', '198.51.100.1'))
})

test('a hundred failures from an address close it, and a success of one’s own does not open it again', () => {
  const { throttle } = world()
  fail(throttle, 99, each('user'), here)
  throttle.begin('mallory', here()).succeeded()
  throttle.begin('user100', here())
  isThrottled(() => throttle.begin('user101', here()))
})

test('being refused does not make the wait longer', () => {
  const { clock, throttle } = world()
  fail(throttle, 10, ada, here)
  for (let n = 0; n < 100; n++) isThrottled(() => throttle.begin('ada', here()))
  clock.advance(5 * MINUTE)
  throttle.begin('ada', here())
})
