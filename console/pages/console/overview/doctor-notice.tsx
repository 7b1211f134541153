import type { AnswerOf } from '../../../api/operations.ts'
import { StatusBadge } from '../../../parts/status-badge.tsx'
import { useResource, type ResourceSource } from '../../../parts/resource/use-resource.ts'
import { call, live } from '../platform.ts'
import { overviewWords } from './words.ts'

const SHOWN = 3

const doctorResource: ResourceSource<AnswerOf<'getDoctorReport'>> = {
  live,
  // No event tells of a disk or a file.
  prefix: '',
  isAbout: () => false,
  read: (_, signal) => call('getDoctorReport', {}, signal),
}

/** The gravest findings of the doctor, errors first; nothing while there are none. */
export function DoctorNotice() {
  const { doctorTitle, doctorMore, doctorResults } = overviewWords()
  const findings = useResource(doctorResource, '').value.value?.findings ?? []
  const faults = (['error', 'warning'] as const).flatMap((result) =>
    findings.filter((each) => each.result === result).map((each) => ({ ...each, result })),
  )
  if (faults.length === 0) return null
  return (
    <section class="page-section" aria-labelledby="doctor-title">
      <h2 class="section-title" id="doctor-title">
        {doctorTitle(faults.length)}
      </h2>
      <ul class="finding-list">
        {faults.slice(0, SHOWN).map(({ check, subject, result, detail, remedy }) => (
          <li key={`${check} ${subject} ${detail}`}>
            <StatusBadge tone={result === 'error' ? 'danger' : 'warning'} label={doctorResults[result]} />
            <span>
              <b>{subject}</b> {detail}
              {remedy && <span class="finding-remedy">→ {remedy}</span>}
            </span>
          </li>
        ))}
      </ul>
      {faults.length > SHOWN && <p>{doctorMore(faults.length - SHOWN)}</p>}
    </section>
  )
}
