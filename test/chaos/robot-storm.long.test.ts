import { robotStorm } from './robot-storm.ts'
import { shortForm } from './support/short-form.ts'

shortForm(robotStorm)
