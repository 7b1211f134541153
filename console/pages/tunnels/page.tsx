import { useSignalEffect } from '@preact/signals'
import type { PollNews } from '../../api/poll.ts'
import { localNumber } from '../../i18n/local.ts'
import { useActions } from '../../parts/actions/actions.ts'
import { useKeyboard } from '../../parts/actions/use-keyboard.ts'
import { Button } from '../../parts/button.tsx'
import { CommandLine } from '../../parts/command-line.tsx'
import { formatDuration, formatRtt, formatShare } from '../../parts/format.ts'
import { Icon } from '../../parts/icon.tsx'
import { focusFindBox } from '../../parts/list/find-box.tsx'
import type { LivenessProps } from '../../parts/liveness.tsx'
import { poolTone } from '../../parts/pool-tone.ts'
import { SignInForm } from '../../parts/sign-in-form.tsx'
import { EmptyState, Loading } from '../../parts/states.tsx'
import { Stats, type Stat } from '../../parts/stats.tsx'
import { TopBar } from '../../parts/top-bar.tsx'
import type { SignInActions } from './follow.ts'
import { HealthMark } from './health-mark.tsx'
import { countByHealth, HEALTHS, medianRtt, type JudgedSession } from './health.ts'
import type { TunnelsModel } from './model.ts'
import { Picture } from './picture.tsx'
import { SessionTable } from './session-table.tsx'
import { toggleHealth } from './table.ts'
import type { TunnelState, Gateway, Pool } from './tunnel-state.ts'
import { tunnelWords } from './words.ts'

export function TunnelsPage({ model, session }: PageProps) {
  const words = tunnelWords()
  useKeyboard()
  useSignalEffect(() => {
    const { title, titleOf } = tunnelWords()
    const state = model.state.value
    document.title = state ? titleOf(state.total) : title
  })
  if (model.token.value === null) {
    return (
      <SignInForm
        title={words.title}
        purpose={words.purpose}
        notice={model.notice.value && words.notices[model.notice.value]}
        signIn={session.signIn}
        onToken={session.useToken}
      />
    )
  }
  return (
    <>
      <Header model={model} session={session} />
      <main class="content">
        <Content model={model} session={session} />
      </main>
    </>
  )
}

function Content({ model, session }: PageProps) {
  const words = tunnelWords()
  const news = model.news.value
  if (news?.kind === 'refused') return <Forbidden model={model} session={session} />
  const state = model.state.value
  if (!state) {
    return news?.kind === 'waiting' ? <EmptyState icon="broken" title={news.reason} /> : <Loading />
  }
  const isEmpty = state.total === 0
  return (
    <>
      {state.isPrimaryMissing && (
        <p class="notes" role="status">
          {words.primaryMissing}
        </p>
      )}
      <Summary state={state} sessions={model.sessions.value} />
      {!isEmpty && <Toolbar model={model} />}
      <div class={isEmpty ? 'panes panes-one' : 'panes'}>
        <section class="card pane" aria-labelledby="picture-title">
          <div class="pane-head">
            <h2 id="picture-title" class="pane-title">
              {words.map}
            </h2>
            {!isEmpty && <p class="hint">{words.mapHint}</p>}
          </div>
          <Picture model={model} />
          {isEmpty && <Empty />}
        </section>
        {!isEmpty && <SessionTable model={model} />}
      </div>
    </>
  )
}

/** What to do when there is no session. */
function Empty() {
  const words = tunnelWords()
  return (
    <EmptyState icon="tunnels" title={words.empty}>
      <p>{words.emptyHint}</p>
      <CommandLine
        label={words.command}
        command={`platform vpn connect --gateway ${location.origin} --token-file token.txt`}
      />
    </EmptyState>
  )
}

/** Shown when the user's roles are not sufficient. */
function Forbidden({ model, session }: PageProps) {
  const words = tunnelWords()
  const bearer = model.bearer.value
  return (
    <div role="alert">
      <EmptyState icon="warning" title={words.forbidden}>
        <p>
          {words.neededRoles} {bearer?.name && words.signedInAs(bearer.name, bearer.roles.join(', '))}
        </p>
        <p>{words.askForRole}</p>
        <Button kind="main" onClick={() => session.signOut()}>
          {words.otherUser}
        </Button>
      </EmptyState>
    </div>
  )
}

/** Whether the page is up to date, who is signed in, and the way out. */
function Header({ model, session }: PageProps) {
  const { title, tryNow } = tunnelWords()
  const news = model.news.value
  return (
    <TopBar
      title={title}
      liveness={{
        ...livenessOf(news, model.state.value !== null),
        retry: news?.kind === 'waiting' && { label: tryNow, run: () => session.readNow() },
      }}
      bearer={model.bearer.value}
      onSignOut={() => session.signOut()}
    />
  )
}

function livenessOf(
  news: PollNews<TunnelState> | null,
  hasState: boolean,
): Pick<LivenessProps, 'tone' | 'text'> {
  const { live, lastAnswer, nextAttempt } = tunnelWords()
  switch (news?.kind) {
    case 'answer':
      return { tone: 'live', text: live.answer }
    case 'paused':
      return { tone: 'paused', text: live.paused }
    case 'refused':
      return { tone: 'stale', text: live.refused }
    case 'waiting': {
      const texts = [news.reason, hasState && lastAnswer, nextAttempt(formatDuration(news.retryInMs))]
      return { tone: 'stale', text: texts.filter(Boolean).join(' ') }
    }
    case undefined:
      return { tone: 'waiting', text: live.connecting }
  }
}

/** The model, and what the parts of the page can do besides showing it. */
interface PageProps {
  readonly model: TunnelsModel
  readonly session: SignInActions
}

/** Narrows picture and table; the buttons are the legend of the picture as well. */
function Toolbar({ model }: { readonly model: TunnelsModel }) {
  const { find, findHint, showOnly, healths: healthWords } = tunnelWords()
  const { words, healths, sessions } = model
  useActions(() => [{ title: find, keys: '/', run: focusFindBox }])
  const counts = countByHealth(sessions.value)
  return (
    <search class="filters">
      <label class="find-box">
        <span class="visually-hidden">{find}</span>
        <Icon name="search" />
        <input
          class="input"
          type="search"
          placeholder={findHint}
          spellcheck={false}
          autocomplete="off"
          value={words.value}
          onInput={(event) => (words.value = event.currentTarget.value)}
        />
      </label>
      <div class="actions" role="group" aria-label={showOnly}>
        {HEALTHS.map((health) => (
          <Button
            key={health}
            aria-pressed={healths.value.has(health)}
            title={healthWords[health].meaning}
            onClick={() => (healths.value = toggleHealth(healths.value, health))}
          >
            <HealthMark health={health} />
            {healthWords[health].label}
            <span class="muted">{localNumber(counts[health])}</span>
          </Button>
        ))}
      </div>
    </search>
  )
}

interface SummaryProps {
  readonly state: TunnelState
  readonly sessions: readonly JudgedSession[]
}

/** The totals, and how full the pool is. */
function Summary({ state, sessions }: SummaryProps) {
  const words = tunnelWords()
  const users = new Set(sessions.map(({ user }) => user.id)).size
  const isCut = state.total > sessions.length
  return (
    <Stats
      label={words.totals}
      stats={[
        {
          name: words.sessions,
          value: localNumber(state.total),
          note: isCut ? words.shown(localNumber(sessions.length)) : words.openNow,
        },
        {
          name: words.users,
          value: localNumber(users),
          note: isCut ? words.amongShown : words.connectedUsers,
        },
        gatewayStat(state.gateways),
        { name: words.roundTrip, value: formatRtt(medianRtt(sessions)), note: words.median },
        poolStat(state.pool),
      ]}
    />
  )
}

function gatewayStat(gateways: readonly Gateway[]): Stat {
  const words = tunnelWords()
  const away = gateways.filter(({ isAlive }) => !isAlive).length
  return {
    name: words.gateways,
    value: localNumber(gateways.length - away),
    status:
      away > 0
        ? { tone: 'warning', label: words.gatewaysAway(localNumber(away)) }
        : { tone: 'good', label: words.allUp },
  }
}

function poolStat(pool: Pool): Stat {
  const words = tunnelWords()
  const tone = poolTone(pool)
  return {
    name: words.pool(pool.cidr),
    value: words.used(formatShare(pool.used, pool.size)),
    ...(tone !== 'good' && { status: { tone, label: words.poolWarnings[tone] } }),
    note: <PoolUse pool={pool} />,
  }
}

function PoolUse({ pool: { size, used, cooling, free } }: { readonly pool: Pool }) {
  const words = tunnelWords()
  return (
    <>
      <svg
        class="pool-bar"
        role="img"
        aria-label={words.poolUse(
          localNumber(used),
          localNumber(size),
          localNumber(cooling),
          localNumber(free),
        )}
        width="100%"
        height="10"
      >
        <rect class="pool-free" width="100%" height="10" rx="5" />
        <PoolParts used={used} cooling={cooling} size={size} />
      </svg>
      <span class="pool-legend" aria-hidden="true">
        <span>
          <i class="swatch swatch-used" /> {words.used(localNumber(used))}
        </span>
        <span>
          <i class="swatch swatch-cooling" /> {words.cooling(localNumber(cooling))}
        </span>
        <span>
          <i class="swatch swatch-free" /> {words.free(localNumber(free))}
        </span>
      </span>
    </>
  )
}

// A narrower one could not be seen.
const LEAST_PERCENT = 1.2

function PoolParts({ used, cooling, size }: Pick<Pool, 'used' | 'cooling' | 'size'>) {
  const percent = (part: number) =>
    part === 0 || size === 0 ? 0 : Math.max(LEAST_PERCENT, (part / size) * 100)
  return (
    <>
      <defs>
        <pattern
          id="stripes"
          width="6"
          height="6"
          patternUnits="userSpaceOnUse"
          patternTransform="rotate(45)"
        >
          <rect class="pool-stripe-ground" width="6" height="6" />
          <rect class="pool-stripe" width="3" height="6" />
        </pattern>
      </defs>
      <rect width={`${percent(used) + percent(cooling)}%`} height="10" fill="url(#stripes)" />
      <rect class="pool-used" width={`${percent(used)}%`} height="10" />
    </>
  )
}
