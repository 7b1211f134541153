import { builtInCommand, type BuiltInCommand } from '../../kernel/command.ts'
import { counted } from '../../kernel/counted.ts'
import type { Certificates } from './service.ts'

/** Inspects all certificates now, instead of at the next scan. */
export function inspectCertificatesCommand(certificates: Pick<Certificates, 'inspect'>): BuiltInCommand {
  return builtInCommand({
    id: 'certificates.inspect',
    title: 'Inspect certificates',
    description: 'Inspects all certificates and their files now, instead of at the next scan.',
    async run({ signal, print }) {
      const { inspected, reported, damagedFiles } = await certificates.inspect(signal)
      print(
        `Inspected ${counted(inspected, 'certificate')}: ${reported} reported, ${counted(damagedFiles, 'damaged file')}.`,
      )
    },
  })
}
