import assert from 'node:assert/strict'
import { setTimeout as pause } from 'node:timers/promises'
import { eventually } from '../support/eventually.ts'
import type { Figures, Scenario, Trial } from './support/scenario.ts'
import { guestUnsupported } from './vm/image.ts'
import { atNight, NightWorld } from './vm/night-world.ts'

const PATIENCE = { timeoutMs: 600_000 }
const LOOK_EVERY_MS = 50
/** The steps of a run, as `state.json` names them. */
const STEPS = ['package', 'upload', 'verify', 'succeed', 'clean', 'reboot']

export const night: Scenario = {
  name: 'night',
  row: 'R-17',
  promise:
    'a server saves itself, reboots and says that it is back; a night that is cut short at any step ends well',
  unit: 'nights',
  rounds: { short: 1, full: 1 },
  // Without a guest: the routine is killed at its steps and calls.
  shortForm: 'test/integration/backup/night-kill.long.test.ts',
  unsupported: guestUnsupported,
  parts: [
    { title: 'a good night, and a restore drill', run: goodNight },
    { title: 'the standby gateway is down', run: heldBack },
    { title: 'the server does not come back', run: failedSelfcheck },
    { title: 'the power is cut during each step', run: powerCuts },
  ],
}

async function goodNight(trial: Trial): Promise<Figures> {
  const world = await NightWorld.start(trial)
  const { guest } = world
  const bootsBefore = guest.boots.length
  const begin = performance.now()
  await beginNight(trial, world)
  trial.show('waits for the reboot')
  await guest.untilReady(bootsBefore)
  assert.ok(guest.resets > 0, 'the guest has restarted itself')
  assert.equal(new Set(guest.boots).size, guest.boots.length, 'each boot has an id of its own')
  trial.show('waits for the recovery alert')
  await untilAlert(world, 'system.reboot.init', 'recovered')
  const seconds = Math.round((performance.now() - begin) / 1_000)
  assert.deepEqual((await world.alerts()).map(({ alarm_id: id, status }) => `${id} ${status}`).toSorted(), [
    'backup.clean recovered',
    'backup.done firing',
    'backup.start firing',
    'system.reboot.init recovered',
  ])
  assert.equal(world.archives().length, 1)
  trial.show('waits for the client to come back')
  await eventually('the client fails over and comes back', () => gatewaysOf(world).length >= 3, PATIENCE)
  assert.deepEqual(gatewaysOf(world).slice(0, 3), ['primary', 'standby', 'primary'])
  trial.show('restores the backup')
  const drill = await world.backup('restore', '--latest', '--json')
  assert.equal(drill.code, 0, `${drill.stdout}${drill.stderr}`)
  return { nights: 1, 'seconds until the recovery alert': seconds, archives: 1, drill: 'passed' }
}

async function heldBack(trial: Trial): Promise<Figures> {
  const world = await NightWorld.start(trial)
  await world.standby.kill()
  const { resets } = world.guest
  await beginNight(trial, world)
  await untilAlert(world, 'system.reboot.blocked', 'firing')
  const blocked = await world.alert('system.reboot.blocked')
  assert.match(blocked?.body ?? '', /standby/)
  assert.equal((await world.state()).run?.status, 'done')
  assert.equal(world.guest.resets, resets)
  assert.equal(world.archives().length, 1)
  return { nights: 1, reboots: 0, archives: 1 }
}

/** Another program takes the port of the platform at the boot, until an operator ends it. */
async function failedSelfcheck(trial: Trial): Promise<Figures> {
  const world = await NightWorld.start(trial)
  const { guest } = world
  await guest.script(`
    cat > /etc/systemd/system/intruder.service <<'UNIT'
[Unit]
Before=platform.service
[Service]
ExecStart=/usr/local/bin/node -e "require('net').createServer().listen(9991, '0.0.0.0')"
[Install]
WantedBy=multi-user.target
UNIT
    mkdir -p /etc/systemd/system/platform.service.d
    systemctl enable intruder
    sync`)
  const bootsBefore = guest.boots.length
  await beginNight(trial, world)
  await guest.untilReady(bootsBefore)
  trial.show('waits for the self-check to fail')
  await eventually(
    'the self-check has failed',
    async () => (await guest.run('/bin/systemctl', 'is-failed', 'platform-backup-selfcheck')).code === 0,
    PATIENCE,
  )
  await guest.script(
    'systemctl disable --now intruder; systemctl reset-failed platform; systemctl start platform',
  )
  await world.untilPlatformAnswers()
  const selfcheck = await guest.run('/bin/systemctl', 'start', 'platform-backup-selfcheck')
  assert.equal(selfcheck.code, 0, selfcheck.stderr)
  await untilAlert(world, 'system.selfcheck.failed', 'recovered')
  assert.deepEqual(await world.weightsOf('system.selfcheck.failed'), [6, 0])
  assert.deepEqual(await world.ticketLevels(), ['critical'])
  return { nights: 1, 'critical alerts': 1, tickets: 1 }
}

async function powerCuts(trial: Trial): Promise<Figures> {
  const world = await NightWorld.start(trial)
  const { guest } = world
  const missed: string[] = []
  for (const [index, step] of STEPS.entries()) {
    trial.signal.throwIfAborted()
    if (index > 0) {
      await guest.cutPower()
      await guest.start(atNight('01:58', index))
    }
    await beginNight(trial, world, index)
    trial.show(`cuts the power during the step ${step}`)
    if (!(await untilStep(world, step, index))) missed.push(step)
    await guest.cutPower()
    await guest.start(atNight('02:10', index))
    // The next retry is at 02:30.
    await world.setClock(atNight('02:29', index))
    trial.show(`waits for the end of the night after the cut during ${step}`)
    await untilNightIsOver(world, step, index)
    assert.equal(world.archives().length, index + 1, `archives after the cut during ${step}`)
    assert.equal((await world.guest.script('ls /opt/platform/backups/staging')).trim(), '')
    const drill = await world.backup('restore', '--latest')
    assert.equal(drill.code, 0, `${step}: ${drill.stdout}${drill.stderr}`)
  }
  return { cuts: STEPS.length, 'steps that were too short to be hit': missed.join(' ') || 'none' }
}

/** A power cut after the success of the backup ends the night: it is neither cleaned nor rebooted again. */
const ENDS_THE_NIGHT = ['clean', 'reboot']

/** A timer has repeated the run, and the server has rebooted. */
async function untilNightIsOver(world: NightWorld, cutDuring: string, nightsLater: number): Promise<void> {
  const date = atNight('02:00', nightsLater).slice(0, 10)
  await eventually(
    'the night is over',
    async () => {
      const { run, lastSuccess, pendingReboot, rebootedOn } = await world.state()
      const isSaved = lastSuccess?.backupId.startsWith(date.replaceAll('-', ''))
      const isRebooted = rebootedOn === date || ENDS_THE_NIGHT.includes(cutDuring)
      return isSaved && isRebooted && run?.status !== 'running' && pendingReboot === undefined
    },
    { timeoutMs: 1_200_000 },
  )
}

/** Sets the clock to shortly before 02:00, so that the timer begins the night. */
async function beginNight({ show }: Trial, world: NightWorld, nightsLater = 0): Promise<void> {
  show('waits for 02:00')
  await world.setClock(atNight('01:59', nightsLater))
}

async function untilAlert(world: NightWorld, alarmId: string, status: string): Promise<void> {
  await eventually(
    `${alarmId} is ${status}`,
    async () => (await world.alert(alarmId))?.status === status,
    PATIENCE,
  )
}

/** `primary` and `standby` in the order in which the client was connected with them. */
function gatewaysOf({ clientEvents, standby }: NightWorld): string[] {
  const connected = clientEvents.filter(({ state }) => state === 'connected')
  return connected.map(({ gateway }) => (gateway?.startsWith(standby.gatewayUrl) ? 'standby' : 'primary'))
}

/** Whether the run of that night was seen in the step before it ended. */
async function untilStep(world: NightWorld, step: string, nightsLater: number): Promise<boolean> {
  const day = atNight('02:00', nightsLater).slice(0, 10)
  for (;;) {
    const { run } = await world.state()
    const isTonight = run?.date === day
    if (isTonight && run.status === 'running' && run.job === step) return true
    if (isTonight && run.status !== 'running') return false
    await pause(LOOK_EVERY_MS)
  }
}
