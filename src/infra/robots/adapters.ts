import type { RobotAdapter } from './adapter.ts'
import { dingtalk } from './dingtalk.ts'
import { feishu } from './feishu.ts'
import { generic } from './generic.ts'
import type { RobotKind } from './robot.ts'
import { slack } from './slack.ts'
import { teams } from './teams.ts'
import { telegram } from './telegram.ts'
import { wecom } from './wecom.ts'

export const ROBOT_ADAPTERS: Readonly<Record<RobotKind, RobotAdapter>> = {
  feishu,
  dingtalk,
  wecom,
  slack,
  teams,
  telegram,
  generic,
}
