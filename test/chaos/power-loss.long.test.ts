import { powerLoss } from './power-loss.ts'
import { shortForm } from './support/short-form.ts'

shortForm(powerLoss)
