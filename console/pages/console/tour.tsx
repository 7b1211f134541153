import { useSignal } from '@preact/signals'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { defineWords } from '../../i18n/language.ts'
import { localNumber } from '../../i18n/local.ts'
import { Button } from '../../parts/button.tsx'
import { Modal } from '../../parts/modal.tsx'

const tourWords = defineWords({
  title: ['A tour of the console', '控制台导览'],
  steps: [
    [
      [
        'What to look at first',
        'The overview begins with what needs a person, and shows the state of every part.',
      ],
      [
        'Find your way',
        'The pages are in four groups that fold. Ctrl K finds pages, actions and objects by their ids.',
      ],
      [
        'Lists',
        'j and k move through the rows, Enter opens one, / searches. The address keeps filters: send it to others.',
      ],
      [
        'Alerts',
        'The most severe ones are first. Acknowledge one that you work on, or silence it in two clicks.',
      ],
      [
        'As you like it',
        'Language and colours are at the top right. ? shows all keys. The browser can notify you of alerts.',
      ],
    ],
    [
      ['首先查看', '概览首先列出需要人工处理的事项，并显示各部分的状态。'],
      ['查找', '页面分为四组，可以折叠。按 Ctrl K 可查找页面、操作，以及按编号查找对象。'],
      ['列表', '按 j 和 k 在行间移动，回车打开，/ 搜索。地址保存筛选条件，可以发给他人。'],
      ['告警', '最严重的排在最前。正在处理的告警请确认，或两次点击即可静默。'],
      ['个性化', '右上角可选择语言和颜色。按 ? 显示所有快捷键。浏览器可以通知您告警。'],
    ],
  ],
  place: [(step: string, all: string) => `${step} of ${all}`, (step, all) => `第 ${step} 步，共 ${all} 步`],
  back: ['Back', '上一步'],
  next: ['Next', '下一步'],
  skip: ['Skip', '跳过'],
  done: ['Begin', '开始使用'],
})

/** Shows in five steps what the console has; each step marks a part of the page. */
export function Tour({ onClose }: { readonly onClose: () => void }) {
  const words = tourWords()
  const step = useSignal(0)
  const forward = useRef<HTMLButtonElement>(null)
  const { steps } = words
  const [title = '', text = ''] = steps[step.value] ?? []
  const isLast = step.value === steps.length - 1
  useLayoutEffect(() => {
    document.documentElement.dataset['tour'] = String(step.value)
    forward.current?.focus()
    return () => delete document.documentElement.dataset['tour']
  }, [step.value])
  return (
    <Modal label={words.title} kind="tour" onClose={onClose}>
      <h2 class="modal-title">{title}</h2>
      <p role="status">{text}</p>
      <div class="actions actions-end">
        <span class="muted tour-place">
          {words.place(localNumber(step.value + 1), localNumber(steps.length))}
        </span>
        {!isLast && (
          <Button kind="quiet" onClick={onClose}>
            {words.skip}
          </Button>
        )}
        {step.value > 0 && <Button onClick={() => (step.value -= 1)}>{words.back}</Button>}
        <button
          class="button button-main"
          type="button"
          ref={forward}
          onClick={() => (isLast ? onClose() : (step.value += 1))}
        >
          {isLast ? words.done : words.next}
        </button>
      </div>
    </Modal>
  )
}
