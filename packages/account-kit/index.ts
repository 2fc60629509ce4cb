export { maskAddress, networkOf } from './addresses.ts'
export { createDepartures, insertTombstone, isDeparted, type DepartureOptions, type Departures } from './departures.ts'
export { countPersonalData } from './erase.ts'
export { generateName, generateUsername } from './generated-names.ts'
export { hide, isHidden, isNotHidden } from './hidden.ts'
export { findNameError, findUsernameError, USERNAME, validateName } from './names.ts'
export {
  databaseTables,
  inColumns,
  either,
  kitTables,
  mailTables,
  notPersonal,
  personal,
  type NotPersonal,
  type Personal,
  type PersonalData
} from './personal-data.ts'
export type { DepartureTables } from './tables.ts'
export { dayAround, dayIn, findTimezoneName, parseTimezone, readTimezone, startOfDay, Timezone } from './timezones.ts'
