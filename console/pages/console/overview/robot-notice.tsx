import { Icon } from '../../../parts/icon.tsx'
import { useResource } from '../../../parts/resource/use-resource.ts'
import { settingsResource } from '../settings/model.ts'
import { pathOf } from '../view.ts'
import { overviewWords } from './words.ts'

const UNSET = '(unset)'

/** That nobody is notified of alerts, as long as no chat robot is set up; for users who may read the settings. */
export function RobotNotice() {
  const { noRobot, toSettings } = overviewWords()
  const settings = useResource(settingsResource, '').value.value
  const robot = settings?.items.find(({ key }) => key === 'alerts.robot.url')
  if (robot?.value !== UNSET) return null
  return (
    <p class="page-notice">
      <Icon name="alerts" />
      <span>
        {noRobot} <a href={pathOf({ name: 'settings' })}>{toSettings}</a>
      </span>
    </p>
  )
}
