import { jsonAnswer } from '../../mock-server/answers.ts'
import { apiError, invalidParameter, type Answer } from '../answers.ts'
import { checkName, requireDriveId, requireEntry, requireSpace, type Call } from '../call.ts'
import type { MockDrive } from '../drive.ts'
import { NAME_MODES, ROOT_ID, toRecord, type Entry } from '../entries.ts'
import { randomId } from '../../mock-server/random-text.ts'

/** `POST openFile/update`: a new name, or the star. */
export function update(drive: MockDrive, call: Call): Answer {
  const { files } = drive
  const { fields } = call
  const entry = requireEntry(drive, call)
  const starred = fields.flag('starred')
  const name = fields.optionalText('name')
  if (name === '') return invalidParameter('Name', 'expected a name')
  const mode = fields.choice('check_name_mode', NAME_MODES, 'ignore')
  if (name !== undefined && checkName(name) !== entry.name) {
    const isTaken = files.childNamed(entry.parentId, name) !== undefined
    if (isTaken && mode === 'refuse')
      return apiError(409, 'AlreadyExist.File', 'There is a file of this name.')
    entry.name = mode === 'auto_rename' ? files.freeName(entry.parentId, name) : name
  }
  entry.isStarred = starred ?? entry.isStarred
  files.touch(entry)
  return jsonAnswer(toRecord(entry))
}

/** `POST openFile/move` */
export function move(drive: MockDrive, call: Call): Answer {
  const { files } = drive
  const { fields } = call
  const entry = requireEntry(drive, call)
  const parentId = fields.text('to_parent_file_id')
  files.requireFolder(parentId)
  if (parentId !== ROOT_ID && files.isWithin(parentId, entry.fileId))
    return apiError(400, 'InvalidResource.ParentFileId', 'A folder cannot be moved into itself.')
  const wanted = checkName(fields.optionalText('new_name') || entry.name)
  const mode = fields.choice('check_name_mode', NAME_MODES, 'refuse')
  const existing = files.childNamed(parentId, wanted)
  if (existing && existing !== entry && mode === 'refuse') return moveAnswer(existing, true)
  entry.parentId = parentId
  entry.name = mode === 'auto_rename' ? uniqueName(drive, entry, wanted) : wanted
  files.touch(entry)
  return moveAnswer(entry, false)
}

/** A name that no other entry of the folder has; the entry may keep its own. */
function uniqueName({ files }: MockDrive, entry: Entry, wanted: string): string {
  entry.name = ''
  return files.freeName(entry.parentId, wanted)
}

function moveAnswer({ driveId, fileId }: Entry, exist: boolean): Answer {
  return jsonAnswer({ drive_id: driveId, file_id: fileId, exist })
}

/** `POST openFile/copy`: of a file. A copy shares the content. */
export function copy(drive: MockDrive, call: Call): Answer {
  const { files } = drive
  const { fields } = call
  const entry = requireEntry(drive, call)
  const parentId = fields.text('to_parent_file_id')
  files.requireFolder(parentId)
  if (entry.type === 'folder') return apiError(400, 'InvalidResource.FileId', 'The mock copies files only.')
  requireSpace(drive, entry.size)
  const wanted = checkName(fields.optionalText('new_name') || entry.name)
  const name = (fields.flag('auto_rename') ?? true) ? files.freeName(parentId, wanted) : wanted
  const { fileId: _, ...content } = entry
  const { driveId, fileId } = files.create({ ...content, parentId, name })
  return jsonAnswer({ drive_id: driveId, file_id: fileId, exist: false })
}

/** `POST openFile/recyclebin/trash` */
export function trash(drive: MockDrive, call: Call): Answer {
  const entry = requireEntry(drive, call)
  entry.isInRecycleBin = true
  return removalAnswer(entry)
}

/** `POST openFile/delete`: for good, also out of the recycle bin. */
export function remove(drive: MockDrive, { fields }: Call): Answer {
  requireDriveId(drive, fields)
  const entry = drive.files.requireAny(fields.text('file_id'))
  drive.files.delete(entry)
  return removalAnswer(entry)
}

/** A folder is removed by a task, which has already ended. */
function removalAnswer({ driveId, fileId, type }: Entry): Answer {
  const task = type === 'folder' ? { async_task_id: randomId() } : {}
  return jsonAnswer({ drive_id: driveId, file_id: fileId, ...task })
}

/** `POST openFile/async_task/get` */
export function asyncTaskGet(_drive: MockDrive, { fields }: Call): Answer {
  return jsonAnswer({ async_task_id: fields.text('async_task_id'), state: 'Succeed' })
}
