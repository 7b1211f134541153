import { ObjectsPage } from '../../../parts/list/objects-page.tsx'
import { session } from '../platform.ts'
import { pathOf, type ViewProps } from '../view.ts'
import { certificateColumns } from './columns.tsx'
import { CertificateDrawer } from './drawer.tsx'
import type { Certificate } from './model.ts'
import { NewCertificate } from './new-certificate.tsx'
import { certificateList } from './source.ts'
import { certificateWords } from './words.ts'

const INSPECTION = `${pathOf({ name: 'commands' })}/certificates.inspect`

/** The certificates: the list, and beside it the certificate that the address names. */
export function CertificatesPage({ id }: ViewProps) {
  const words = certificateWords()
  return (
    <ObjectsPage
      path={pathOf({ name: 'certificates' })}
      source={certificateList}
      words={words}
      labelOf={(_, value) => words.statuses[value as Certificate['status']]}
      columns={certificateColumns(words)}
      icon="certificates"
      id={id}
      head={() =>
        session.may('deleteCertificate') && (
          <a class="button" href={INSPECTION}>
            {words.inspect}
          </a>
        )
      }
      newItem={
        session.may('registerCertificate') && {
          title: words.newCertificate,
          dialog: (dialog) => <NewCertificate {...dialog} />,
        }
      }
      detail={({ id: shown, onClose }) => <CertificateDrawer key={shown} id={shown} onClose={onClose} />}
    />
  )
}
