import { defineWords, sameInBoth } from '../../../i18n/language.ts'
import { PAGE_WORDS } from '../page-words.ts'

export const menuWords = defineWords({
  ...PAGE_WORDS.menus,
  tree: ['Tree of the menus', '菜单树'],
  empty: [
    'The shop has no menus. “New menu” adds the first one to the draft.',
    '商城没有菜单。“新建菜单”会将第一个菜单加入草稿。',
  ],
  fields: {
    id: ['Id', '标识'],
    title: ['Title', '标题'],
    path: ['Path', '路径'],
    icon: ['Icon', '图标'],
    enabled: ['Shown', '显示'],
    parent_id: ['Below', '上级'],
  },
  hints: {
    id: [
      'A to Z, digits, dot, hyphen and underscore. It cannot be changed later.',
      '可用字母、数字、点、连字符和下划线，之后不能更改。',
    ],
    path: ['Begins with /', '以 / 开头'],
    enabled: ['A menu that is not shown hides all that is below it.', '隐藏的节点会同时隐藏其下所有内容。'],
  },
  takenId: ['There is a menu with this id.', '已有使用此标识的菜单。'],
  hidden: ['Hidden', '已隐藏'],
  newNodeAtTop: ['New menu at the top', '新建顶层菜单'],
  newNodeBelow: [(title: string) => `New menu below ${title}`, (title) => `在 ${title} 下新建菜单`],
  add: ['Add to the draft', '加入草稿'],
  apply: ['Apply to the draft', '应用到草稿'],
  accepted: [
    'It is in the draft and can be saved. “Review and save” makes it take effect.',
    '已在草稿中，可以保存。“核对并保存”后生效。',
  ],
  parent: ['Parent', '上级'],
  next: ['Next menu', '下一个菜单'],
  previous: ['Previous menu', '上一个菜单'],
  moves: {
    up: ['Move up', '上移'],
    down: ['Move down', '下移'],
    in: ['Move in', '移入上一项'],
    out: ['Move out', '移出一级'],
  },
  remove: {
    action: ['Remove', '移除'],
    title: [
      (title: string) => `Remove ${title} and all that is below it?`,
      (title) => `要移除 ${title} 及其下所有内容吗？`,
    ],
    text: ['It is deleted when the draft is saved.', '保存草稿时才会删除。'],
  },
  help: [
    'Drag a menu, or move the chosen one by keyboard: Alt+↑ earlier, Alt+↓ later, Alt+← out, Alt+→ in.',
    '可拖动菜单，或用键盘移动选中的菜单：Alt+↑ 上移，Alt+↓ 下移，Alt+← 移出一级，Alt+→ 移入上一项。',
  ],
  noDraft: ['Nothing is changed.', '没有更改。'],
  draft: ['The draft is not saved yet.', '草稿尚未保存。'],
  review: ['Review and save', '核对并保存'],
  discard: {
    action: ['Discard', '放弃'],
    title: ['Discard the draft?', '要放弃草稿吗？'],
  },
  reviewTitle: ['These changes will be saved', '将保存以下更改'],
  refusedTitle: ['The draft cannot be saved', '草稿无法保存'],
  noChange: ['The draft changes nothing.', '草稿没有任何更改。'],
  outcomes: {
    created: ['New', '新增'],
    updated: ['Changed', '修改'],
    moved: ['Moved', '移动'],
    deleted: ['Deleted', '删除'],
  },
  save: ['Save', '保存'],
  saved: ['The menus are saved.', '菜单已保存。'],
  top: ['At the top', '顶层'],
  gone: ['Does not exist', '不存在'],
  none: ['None', '无'],
  menu: ['Menu', '菜单'],
  aspects: { place: ['Place', '位置'], node: ['The whole menu', '整个菜单'] },
  conflictText: [
    'Somebody else saved the menus after you began. Add your changes to the current version, which keeps all others, and review them; or discard them. Nothing is saved before you confirm.',
    '您开始修改后，其他人保存了菜单。您可以把自己的修改加入当前版本（其他更改都会保留）再检查，也可以放弃。确认之前不会保存。',
  ],
  conflictBoth: [
    'Where both of you changed the same, yours replaces it. What was deleted meanwhile stays deleted.',
    '双方修改了同一内容时，以您的为准；期间已删除的菜单不会恢复。',
  ],
  changedByBoth: ['Changed by both', '双方都有修改'],
  discardMine: ['Discard my changes', '放弃我的修改'],
  addMine: ['Add my changes and review', '加入我的修改并检查'],
  place: [
    (path: string, place: string) => `${path} (place ${place})`,
    (path, place) => `${path}（第 ${place} 位）`,
  ],
  fromTo: sameInBoth((from: string, to: string) => `${from} → ${to}`),
  notListed: ['There is no such menu.', '菜单不存在。'],
})
