import { defineWords } from '../../i18n/language.ts'
import { Icon } from '../../parts/icon.tsx'
import type { BusState } from './bus-health.ts'

const busWords = defineWords({
  offline: [
    'The message bus is offline. Everything else goes on, and nothing is lost: messages wait, and are sent in their order when it is back. Programs that listen to it hear nothing until then.',
    '消息总线离线。其他功能照常运行，不会丢失任何内容：消息会等待，并在总线恢复后按顺序发送。在此之前，监听总线的程序收不到消息。',
  ],
  degraded: [
    'The message bus accepts no messages at the moment. Everything else goes on, and nothing is lost: they wait, and are sent in their order.',
    '消息总线暂不接收消息。其他功能照常运行，不会丢失任何内容：消息会等待，并按顺序发送。',
  ],
})

/** Says what to expect while the bus accepts no messages. */
export function BusNotice({ state }: { readonly state: BusState }) {
  const words = busWords()
  if (state === 'ok') return null
  return (
    <p class="page-notice" role="status">
      <Icon name="warning" />
      {words[state]}
    </p>
  )
}
