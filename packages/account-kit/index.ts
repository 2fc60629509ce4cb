export { maskAddress, networkOf } from './addresses.ts'
export { createErasure, hasTombstone, insertTombstone, type AccountErasure } from './erasure.ts'
export { countPersonalData } from './erase-rows.ts'
export { generateName, generateUsername } from './generated-names.ts'
export { hide, isHidden, isNotHidden } from './hidden.ts'
export { findNameError, findOwnNameError, findUsernameError, USERNAME, validateName } from './names.ts'
export {
  databaseTables,
  inColumns,
  either,
  kitTables,
  mailTables,
  notPersonal,
  personal,
  type PersonalData
} from './personal-data.ts'
export type { ErasureTables } from './tables.ts'
export {
  dayAround,
  dayIn,
  findTimezoneName,
  isOffset,
  parseTimezone,
  readTimezone,
  startOfDay,
  Timezone
} from './timezones.ts'
