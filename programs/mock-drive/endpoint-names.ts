const FILES = '/adrive/v1.0/openFile'

/** The paths. Those of parts and downloads have further segments. */
export const PATHS = {
  access_token: '/oauth/access_token',
  users_info: '/oauth/users/info',
  users_scopes: '/oauth/users/scopes',
  getDriveInfo: '/adrive/v1.0/user/getDriveInfo',
  getSpaceInfo: '/adrive/v1.0/user/getSpaceInfo',
  getVipInfo: '/business/v1.0/user/getVipInfo',
  create: `${FILES}/create`,
  getUploadUrl: `${FILES}/getUploadUrl`,
  put: '/upload',
  uploadPart: `${FILES}/uploadPart`,
  listUploadedParts: `${FILES}/listUploadedParts`,
  complete: `${FILES}/complete`,
  list: `${FILES}/list`,
  search: `${FILES}/search`,
  get: `${FILES}/get`,
  get_by_path: `${FILES}/get_by_path`,
  batch_get: `${FILES}/batch/get`,
  getDownloadUrl: `${FILES}/getDownloadUrl`,
  download: '/download',
  update: `${FILES}/update`,
  move: `${FILES}/move`,
  copy: `${FILES}/copy`,
  trash: `${FILES}/recyclebin/trash`,
  delete: `${FILES}/delete`,
  async_task_get: `${FILES}/async_task/get`,
} as const

export type EndpointName = keyof typeof PATHS

export const ENDPOINT_NAMES = Object.keys(PATHS) as EndpointName[]
