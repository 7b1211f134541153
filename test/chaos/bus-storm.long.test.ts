import { busStorm } from './bus-storm.ts'
import { shortForm } from './support/short-form.ts'

shortForm(busStorm)
