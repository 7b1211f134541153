import { defineWords } from '../../../i18n/language.ts'

export const settingWords = defineWords({
  en: {
    title: 'Settings',
    list: 'Settings in effect',
    about:
      'The values with which the api runs. Secrets are masked. Change them in the configuration, then restart.',
    timeZone: (zone: string) =>
      `The console shows all times in the time zone of your browser, ${zone}. backup.time_zone is for the nightly backup only.`,
    file: (path: string) => `The configuration file is ${path}.`,
    noFile: 'There is no configuration file.',
    fields: { key: 'Setting', value: 'Value', source: 'From' },
    find: 'Find a setting',
    changed: 'Only settings that differ from their default',
    noMatch: 'No setting matches.',
    isDefault: 'Default',
  },
  zh: {
    title: '设置',
    list: '当前生效的设置',
    about: 'API 运行时使用的值，机密已隐藏。请在配置中修改，然后重启。',
    timeZone: (zone) => `控制台中的时间均按浏览器所在时区 ${zone} 显示。backup.time_zone 仅用于夜间备份。`,
    file: (path) => `配置文件：${path}`,
    noFile: '没有配置文件。',
    fields: { key: '设置项', value: '值', source: '来源' },
    find: '查找设置项',
    changed: '仅显示与默认值不同的设置项',
    noMatch: '没有符合条件的设置项。',
    isDefault: '默认值',
  },
})
