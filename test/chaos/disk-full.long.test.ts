import { diskFull } from './disk-full.ts'
import { shortForm } from './support/short-form.ts'

shortForm(diskFull)
